import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from '../../../src/index.ts'
import { closeServer } from '../../../src/testing/server.ts'
import { Sockets } from '../../../src/testing/sockets.ts'
import { type Hostile, startHostile } from '../../support/hostile.ts'
import { makeUserKey } from '../../support/identity-keys.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { until } from '../../support/until.ts'

interface FakeAgent extends AsyncDisposable {
  readonly socketPath: string
  readonly connections: number
  readonly open: number
}

/** Something at the place of an agent, that does with each connection what `serve` says. */
async function startFakeAgent(serve: (socket: Socket) => void): Promise<FakeAgent> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-'))
  const socketPath = join(directory, 'socket')
  const sockets = new Sockets()
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  return {
    socketPath,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([closeServer(server), sockets.close()])
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const FAILURE = Buffer.from([0, 0, 0, 1, 5])
/** Claims to hold one key. */
const identities = (publicKey: string): Buffer => {
  const blob = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  const body = Buffer.concat([Buffer.from([12, 0, 0, 0, 1]), length(blob.length), blob, length(0)])
  return Buffer.concat([length(body.length), body])
}
function length(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

describe('ssh2: an agent in trouble', () => {
  let host: Hostile

  before(async () => {
    host = await startHostile({
      authenticate: (context) => (context.method === 'publickey' ? context.accept() : context.reject(['publickey'])),
    })
  })

  after(() => host.close())

  const by = (socketPath: string): Target => ({ ...host.target, identity: { agent: socketPath } })

  it('that is missing is ERR_AGENT, and a later dial may find it', async () => {
    await using pool = startPool()
    const error = await refusal(pool.acquire(by('/nonexistent/agent')), 'ERR_AGENT', 'auth')
    assert.equal(error.retryable, true)
    assert.match(error.message, /nonexistent/)
  })

  for (const [what, serve] of [
    ['that closes at once', (socket: Socket) => socket.destroy()],
    ['that closes when it is asked', (socket: Socket) => socket.once('data', () => socket.end())],
    ['that refuses', (socket: Socket) => socket.once('data', () => socket.write(FAILURE))],
    ['that talks nonsense', (socket: Socket) => socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))],
  ] as const) {
    it(`${what} is ERR_AGENT, and nothing is left of it`, async () => {
      await using agent = await startFakeAgent(serve)
      await using pool = startPool({ openTimeoutMillis: 2_000 })
      await refusal(pool.acquire(by(agent.socketPath)), 'ERR_AGENT', 'auth')
      await until(() => agent.open === 0)
      assert.equal(agent.connections, 1)
    })
  }

  it('that is mute is ERR_AGENT before the time for the whole dial is up, and nothing is left of it', async () => {
    await using agent = await startFakeAgent((socket) => socket.resume())
    await using pool = startPool({ channelTimeoutMillis: 150 })
    const error = await refusal(pool.acquire(by(agent.socketPath)), 'ERR_AGENT', 'auth')
    assert.match(error.message, /150 ms/)
    await until(() => agent.open === 0)
  })

  it('that does not sign is ERR_AGENT, and nothing is left of it', async () => {
    const key = makeUserKey('ed25519')
    await using agent = await startFakeAgent((socket) =>
      socket.once('data', (request: Buffer) => socket.write(request[4] === 11 ? identities(key.public) : FAILURE)),
    )
    await using strict = await startHostile({
      authenticate: (context) => {
        if (context.method === 'publickey' && context.signature === undefined) context.accept()
        else context.reject(['publickey'])
      },
    })
    await using pool = startPool()
    await refusal(pool.acquire({ ...strict.target, identity: { agent: agent.socketPath } }), 'ERR_AGENT', 'auth')
    await until(() => agent.open === 0)
    assert.equal(agent.connections, 2)
  })

  it('is let go when the dial ends while it thinks', async () => {
    await using agent = await startFakeAgent((socket) => socket.resume())
    const pool = startPool()
    const dial = refusal(pool.acquire(by(agent.socketPath)), 'ERR_POOL_CLOSED')
    await until(() => agent.open === 1)
    await Promise.all([dial, pool.destroy()])
    await until(() => agent.open === 0)
  })

  it('is let go when the server leaves while it thinks, and what it says then is not sent', async () => {
    let answer = () => {}
    await using agent = await startFakeAgent((socket) =>
      socket.once('data', () => {
        answer = () => socket.write(identities(makeUserKey('ed25519').public))
      }),
    )
    await using pool = startPool()
    const dial = refusal(pool.acquire(by(agent.socketPath)), 'ERR_RESET', 'auth')
    await until(() => agent.open === 1)
    host.connections.at(-1)?.end()
    answer()
    await dial
    await until(() => agent.open === 0)
  })
})
