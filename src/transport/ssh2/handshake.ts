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
import { holdAtBanner, type Prelude } from './banner.ts'
import { closedEarly, dialError } from './classify.ts'
import { Ssh2Connection } from './connection.ts'
import { guard } from './guard.ts'
import { authHandler } from './identities.ts'
import { forbidSha1, isStrictKex } from './insides.ts'

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

/** Judges the first host key by what is expected, and any later one, at a rekey, by the first. */
function hostKeyVerifier(
  dial: Dial,
  expected: HostKeyExpectation,
  enter: (phase: Phase) => void,
  fail: (error: unknown) => void,
) {
  let first: Buffer | undefined
  return (key: Buffer, verdict: (isGood: boolean) => void): void => {
    if (first !== undefined) {
      if (!key.equals(first))
        fail(new TunnelError('ERR_HOST_KEY', `${dial.target.id}: the host key changed during a rekey`, { phase: 'hostkey' }))
      verdict(key.equals(first))
      return
    }
    enter('hostkey')
    first = Buffer.from(key)
    const judged = expected.verify(first, dial.signal).then(
      () => verdict(true),
      (error) => {
        fail(error)
        verdict(false)
      },
    )
    // A verdict on a connection that is over meanwhile throws.
    quietly(judged)
  }
}

/**
 * Speaks SSH on a connected stream until the server has accepted us. Everything it makes lives and dies with the stream.
 * Rejects with a TunnelError that names the phase; the first cause wins, however many errors ssh2 adds.
 */
export function handshake(
  ssh2: typeof import('ssh2'),
  given: Dial,
  expected: HostKeyExpectation,
  stream: Duplex,
  held: Held,
): Promise<Ssh2Connection> {
  const { target, signal } = given
  stream.pause()
  return new Promise<Ssh2Connection>((resolve, reject) => {
    // Whoever is asked for a key or a verdict is told when the dial is over, and not only when it was given up.
    const over = new AbortController()
    const dial: Dial = { ...given, signal: over.signal }
    let phase: Phase = 'banner'
    let prelude: Prelude | undefined
    const enter = (next: Phase) => {
      phase = next
      dial.enter(next)
    }
    const client = ownClient(ssh2, stream, held)
    const connection = new Ssh2Connection(client, stream, dial, (cause) =>
      cause === undefined
        ? closedEarly(phase, prelude?.isForeign === true, target.id)
        : dialError(cause, { phase, host: target.id, hostKeyTypes: expected.algorithms }),
    )
    const fail = (error: unknown) => connection.lose(error)
    connection.onLost((error) => {
      takeBack()
      reject(error)
      over.abort(error)
    })
    client.on('error', fail)
    const takeBack = onAbort(signal, () => fail(signal.reason))
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
      hostVerifier: hostKeyVerifier(dial, expected, enter, fail),
      strictVendor: false,
      // Deadlines and keepalives are ours: ssh2's are started too late, told twice and do not know a suspended machine.
      readyTimeout: 0,
      keepaliveInterval: 0,
    } as ConnectConfig
    try {
      client.connect(config)
      guard(client, dial.clock, {
        offends: (what) =>
          fail(new TunnelError('ERR_PROTOCOL', `${target.id}: the server ${what}; the connection was ended`, { phase })),
        received: (channel) => connection.received(channel),
        expects: (inbound) => connection.reverse.expects(inbound),
        leaves: () => fail(undefined),
      })
      const isOver = () => connection.error !== undefined
      prelude = holdAtBanner(client, stream, dial, { admitted: () => enter('kex'), isOver, fail })
      if (signal.aborted) fail(signal.reason)
      // A stream that somebody else has made may have ended before it came.
      else if (stream.destroyed || stream.readableEnded) fail(undefined)
    } catch (error) {
      fail(error)
    }
  })
}
