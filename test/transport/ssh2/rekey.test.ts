import assert from 'node:assert/strict'
import { makeKeyPair } from '../../../src/testing/keys.ts'
import { insidesOf, sendRaw, startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startSshd } from '../../support/sshd.ts'
import { echo, startTcpServer } from '../../support/tcp-server.ts'
import { receive, send } from '../../support/traffic.ts'
import { until } from '../../support/until.ts'

/** RFC 4250, section 4.1.2. */
const CHANNEL_OPEN_CONFIRMATION = 91
const CHANNELS = 4
const MIB = 1024 * 1024
const BYTES = 16 * MIB

describe('ssh2: a rekey', () => {
  it('B43: every 256 KiB, with 64 MiB each way over four channels and keepalives: every byte arrives', async () => {
    await using target = await startTcpServer(echo)
    await using sshd = await startSshd({ config: { RekeyLimit: '256K', LogLevel: 'DEBUG1' } })
    await using pool = startPool({ keepAliveIntervalMillis: 100 })
    await using lease = await pool.acquire(sshd.target)
    const sockets = await Promise.all(Array.from({ length: CHANNELS }, () => lease.connect({ port: target.port })))
    const [sent, received] = await Promise.all([
      Promise.all(sockets.map((socket) => send(socket, BYTES))),
      Promise.all(sockets.map((socket) => receive(socket))),
    ])
    assert.deepEqual(received, sent)
    assert.equal(lease.signal.aborted, false)
    assert.equal(pool.stats.opened, 1)
    assert.ok((sshd.log().match(/rekey/gi)?.length ?? 0) > 20, 'the server did not rekey')
  }).timeout(30_000)

  it('to another host key ends the connection with ERR_HOST_KEY', async () => {
    await using host = await startHostile()
    const ssh2 = (await import('ssh2')).default
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    const [connection] = host.connections
    assert.ok(connection)
    const insides = insidesOf(connection)
    insides._hostKeys['ssh-ed25519'] = ssh2.utils.parseKey(makeKeyPair().private)
    insides.rekey()
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_HOST_KEY')
    await refusal(lease.connect({ port: 1 }), 'ERR_HOST_KEY')
  })

  it('that the server begins and does not finish is silence: keepalives end it, and what is written meanwhile does not pile up', async () => {
    await using host = await startHostile({
      serve: (connection, insides) => {
        insides._handlers.CHANNEL_OPEN = ((_protocol: unknown, { sender }: { sender: number }) =>
          sendRaw(connection, CHANNEL_OPEN_CONFIRMATION, sender, 0, 2 ** 32 - 1, 32 * 1024)) as never
      },
    })
    await using pool = startPool({ keepAliveIntervalMillis: 100, keepAliveCountMax: 2 })
    await using lease = await pool.acquire(host.target)
    const socket = await lease.connect({ port: 1 })
    const [connection] = host.connections
    assert.ok(connection)
    const insides = insidesOf(connection)
    insides.rekey()
    Object.assign(insides, { parse: () => {} })
    let taken = 0
    const more = (error?: Error | null): void => {
      if (error) return
      taken += MIB
      socket.write(Buffer.alloc(MIB), more)
    }
    more()
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
    assert.ok(taken < 8 * MIB, `${taken} bytes were taken`)
  })

  it('to the same key goes unnoticed', async () => {
    await using host = await startHostile()
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    const [connection] = host.connections
    assert.ok(connection)
    let rekeys = 0
    connection.on('rekey', () => {
      rekeys += 1
    })
    insidesOf(connection).rekey()
    await until(() => rekeys === 1)
    const health = await pool.probe(host.target)
    assert.equal(health.state, 'serving')
    assert.equal(lease.signal.aborted, false)
  })
})
