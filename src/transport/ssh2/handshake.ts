import type { Duplex } from 'node:stream'
import type { Client, ConnectConfig } from 'ssh2'
import { onAbort } from '../../aborts.ts'
import { TunnelError } from '../../errors.ts'
import { ownClient } from '../../owners/client.ts'
import type { Held } from '../../owners/scope.ts'
import type { HostKeyExpectation } from '../../trust/trust.ts'
import { quietly } from '../../wait.ts'
import type { Dial, Phase } from '../transport.ts'
import { algorithmsFor, isTerrapinProne } from './algorithms.ts'
import { holdAtBanner } from './banner.ts'
import { dialError } from './classify.ts'
import { Ssh2Connection } from './connection.ts'
import { forbidSha1, guard, isStrictKex } from './guard.ts'
import { authHandler } from './identities.ts'

interface Negotiated {
  cs: { cipher: string; mac: string }
  sc: { cipher: string; mac: string }
}

function refuseTerrapin(client: Client, { cs, sc }: Negotiated): void {
  if (isStrictKex(client)) return
  const prone = [cs, sc].find(({ cipher, mac }) => isTerrapinProne(cipher, mac))
  if (prone === undefined) return
  throw new TunnelError('ERR_KEX', `the server lacks strict key exchange, which ${prone.cipher} needs (Terrapin); update it`, {
    phase: 'kex',
  })
}

/**
 * Speaks SSH on a connected stream until the server has accepted us. Everything it makes lives and dies with the stream.
 * Rejects with a TunnelError that names the phase; the first cause wins, however many errors ssh2 adds.
 */
export function handshake(
  ssh2: typeof import('ssh2'),
  dial: Dial,
  expected: HostKeyExpectation,
  stream: Duplex,
  held: Held,
): Promise<Ssh2Connection> {
  const { target, signal } = dial
  stream.pause()
  return new Promise<Ssh2Connection>((resolve, reject) => {
    let phase: Phase = 'banner'
    const enter = (next: Phase) => {
      phase = next
      dial.enter(next)
    }
    const client = ownClient(ssh2, stream, held)
    const connection = new Ssh2Connection(client, stream, dial)
    const fail = (error: unknown) => connection.lose(dialError(error, phase, target.id))
    connection.onLost((error) => {
      takeBack()
      reject(error)
    })
    client.on('error', (error) => (phase === 'open' ? connection.lose(error) : fail(error)))
    stream.prependListener('close', () => {
      if (phase !== 'open')
        fail(
          new TunnelError(
            'ERR_RESET',
            `${target.id}: the server closed the connection (a full MaxStartups, a ban or a firewall looks like this)`,
            { phase },
          ),
        )
    })
    const takeBack = onAbort(signal, () => fail(signal.reason))

    let firstKey: Buffer | undefined
    const verifyHostKey = (key: Buffer, verdict: (isGood: boolean) => void) => {
      if (firstKey !== undefined) {
        if (!key.equals(firstKey))
          fail(new TunnelError('ERR_HOST_KEY', `${target.id}: the host key changed during a rekey`, { phase: 'hostkey' }))
        return verdict(key.equals(firstKey))
      }
      enter('hostkey')
      firstKey = Buffer.from(key)
      quietly(
        expected.verify(firstKey, signal).then(
          () => verdict(true),
          (error) => {
            fail(error)
            verdict(false)
          },
        ),
      )
    }
    client.on('handshake', (negotiated) => {
      if (phase === 'open') return
      try {
        refuseTerrapin(client, negotiated as unknown as Negotiated)
        forbidSha1(client)
        enter('auth')
      } catch (error) {
        fail(error)
      }
    })
    client.on('change password', () =>
      fail(new TunnelError('ERR_AUTH', `${target.id}: the server wants the password changed first`, { phase: 'auth' })),
    )
    client.once('ready', () => {
      if (connection.error !== undefined) return
      phase = 'open'
      takeBack()
      connection.begin()
      resolve(connection)
    })

    enter('banner')
    const config: ConnectConfig = {
      sock: stream as never,
      username: target.user,
      algorithms: algorithmsFor(expected.algorithms),
      authHandler: authHandler(ssh2, dial, fail) as never,
      hostVerifier: verifyHostKey,
      strictVendor: false,
      // Deadlines and keepalives are ours: ssh2's are started too late, told twice and do not know a suspended machine.
      readyTimeout: 0,
      keepaliveInterval: 0,
    } as ConnectConfig
    try {
      client.connect(config)
      guard(client, dial.clock, fail, (channel, bytes) => connection.received(channel, bytes))
      holdAtBanner(stream, dial, () => enter('kex'), fail)
      if (signal.aborted) fail(signal.reason)
    } catch (error) {
      fail(error)
    }
  })
}
