import assert from 'node:assert/strict'
import type { Connection } from 'ssh2'
import type { Lease, TunnelPool } from '../../../src/index.ts'
import { type HostileOptions, insidesOf, sendRaw, startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { echo, startTcpServer } from '../../support/tcp-server.ts'
import { until } from '../../support/until.ts'

const REQUEST_SUCCESS = 81
const CHANNEL_OPEN = 90
const WINDOW = 2 * 1024 * 1024
const PACKET = 32 * 1024
const PORT = 7777

type Answer = (accept: (port?: number) => void, reject: () => void, name: string) => void

interface Site {
  readonly pool: TunnelPool
  readonly lease: Lease
  readonly connection: Connection
  /** Names of the server's requests so far. */
  readonly asked: readonly string[]
  /** The server opens a channel as if somebody had come in on that port. */
  comeIn(port: number, packet?: number): void
}

/** A server that answers requests to listen as it is told. */
async function against(answer: Answer, act: (site: Site) => Promise<void>): Promise<void> {
  const asked: string[] = []
  const serve: HostileOptions['serve'] = (connection) =>
    connection.on('request', (accept, reject, name: string, bind: { bindPort?: number }) => {
      // The round trip by which we ask whether it is alive.
      if (name === 'cancel-tcpip-forward' && bind.bindPort === 0) return reject?.()
      asked.push(name)
      return answer(accept as never, reject as never, name)
    })
  await using host = await startHostile({ serve })
  await using pool = startPool({ channelTimeoutMillis: 300 })
  await using lease = await pool.acquire(host.target)
  const [connection] = host.connections
  assert.ok(connection)
  const comeIn = (port: number, packet = PACKET) =>
    sendRaw(connection, CHANNEL_OPEN, 'forwarded-tcpip', 7, WINDOW, packet, '127.0.0.1', port, '127.0.0.1', 1234)
  await act({ pool, lease, connection, asked, comeIn })
}

describe('ssh2: a server that listens for us and breaks the rules', () => {
  it('and lets somebody in on another port than it was asked for is cut off', async () => {
    await using server = await startTcpServer(echo)
    await against(
      (accept) => accept(),
      async ({ lease, comeIn }) => {
        await lease.forward({ remote: { port: PORT }, to: { port: server.port } })
        comeIn(PORT)
        await until(() => server.open === 1)
        comeIn(PORT + 1)
        await until(() => lease.signal.aborted)
        assert.equal(lease.signal.reason.code, 'ERR_PROTOCOL')
        await until(() => server.open === 0)
      },
    )
  })

  it('and lets somebody in after it has confirmed that it does not listen any more is cut off; before that, it is told no', async () => {
    await using server = await startTcpServer(echo)
    let confirm: (() => void) | undefined
    await against(
      (accept, _reject, name) => {
        if (name === 'tcpip-forward') accept()
        else confirm = accept
      },
      async ({ lease, comeIn, connection }) => {
        const forward = await lease.forward({ remote: { port: PORT }, to: { port: server.port } })
        const closing = forward.close()
        await until(() => confirm)
        let refused = 0
        insidesOf(connection)._handlers.CHANNEL_OPEN_FAILURE = () => {
          refused += 1
        }
        comeIn(PORT)
        await until(() => refused === 1)
        assert.equal(lease.signal.aborted, false)
        confirm?.()
        await closing
        comeIn(PORT)
        await until(() => lease.signal.aborted)
        assert.equal(lease.signal.reason.code, 'ERR_PROTOCOL')
        assert.equal(server.accepted.length, 0)
      },
    )
  })

  it('and cuts what it sends into packets of 16 bytes is cut off', async () => {
    await using server = await startTcpServer(echo)
    await against(
      (accept) => accept(),
      async ({ lease, comeIn }) => {
        await lease.forward({ remote: { port: PORT }, to: { port: server.port } })
        comeIn(PORT, 16)
        await until(() => lease.signal.aborted)
        assert.equal(lease.signal.reason.code, 'ERR_PROTOCOL')
      },
    )
  })

  it('and does not say whether it listens is waited for as long as for a channel; if it says so later, it is told to stop', async () => {
    let late: (() => void) | undefined
    await against(
      (accept, _reject, name) => {
        if (name === 'tcpip-forward') late = accept
        else accept()
      },
      async ({ lease, asked, comeIn, connection }) => {
        await refusal(lease.forward({ remote: { port: PORT }, to: { port: 1 } }), 'ERR_CHANNEL_TIMEOUT', 'forward')
        assert.deepEqual(asked, ['tcpip-forward'])
        assert.ok(late)
        sendRaw(connection, REQUEST_SUCCESS)
        comeIn(PORT)
        await until(() => asked.length === 2)
        assert.equal(asked[1], 'cancel-tcpip-forward')
        assert.equal(lease.signal.aborted, false)
      },
    )
  })
})
