import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { TunnelError } from '../../../src/index.ts'
import { type BareConnection, dialBare } from '../../support/dial.ts'
import { type Relay, startRelay } from '../../support/relay.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { echo, startTcpServer, type TcpServer } from '../../support/tcp-server.ts'
import { until } from '../../support/until.ts'

const bounds = { signal: undefined, timeoutMillis: 2_000 }

describe('ssh2: a channel of the transport, with nothing on it', () => {
  let sshd: Sshd
  let relay: Relay
  let server: TcpServer
  let bare: BareConnection
  let channel: Duplex

  before(async () => {
    sshd = await startSshd()
    server = await startTcpServer(echo)
  })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await sshd.close()
  })

  beforeEach(async () => {
    relay = await startRelay(sshd)
    bare = await dialBare(relay.through(sshd.target))
    channel = await bare.connection.openChannel({ port: server.port }, bounds)
  })

  afterEach(async () => {
    await bare[Symbol.asyncDispose]()
    await relay.close()
    await until(() => server.open === 0)
  })

  const kinds = () => bare.scope.entries().map(({ kind }) => kind)

  it('is paused and in the scope, until it is closed', async () => {
    assert.equal(channel.isPaused(), true)
    assert.deepEqual(kinds(), ['socket', 'channel'])
    channel.write('x')
    channel.resume()
    assert.equal(String((await once(channel, 'data'))[0]), 'x')
    channel.end()
    await once(channel, 'close')
    assert.deepEqual(kinds(), ['socket'])
  })

  for (const [what, read] of [
    ['read', () => channel.resume()],
    ['not read', () => channel.pause()],
  ] as const) {
    it(`that is ${what} fails with the loss of its connection, and does not end`, async () => {
      let hasEnded = false
      channel.on('end', () => {
        hasEnded = true
      })
      channel.write('what comes back unread')
      await until(() => server.accepted.at(-1)?.bytesRead)
      read()
      const failed = once(channel, 'error')
      const lost = new Promise<TunnelError>((resolve) => bare.connection.onLost(resolve))
      relay.reset()
      const [error] = await failed
      assert.equal(error, await lost)
      assert.equal(error, bare.connection.error)
      assert.ok(TunnelError.is(error) && error.code === 'ERR_LOST')
      assert.equal(channel.destroyed, true)
      assert.equal(hasEnded, false)
      await until(() => kinds().length === 0)
    })
  }

  it('that is destroyed with its data unread is closed, here and there', async () => {
    channel.write('what comes back unread')
    await until(() => channel.readableLength > 0)
    channel.destroy()
    await until(() => kinds().length === 1)
    await until(() => server.open === 0)
  })

  it('is refused once the connection is gone, with why it went', async () => {
    relay.reset()
    channel.on('error', () => {})
    await until(() => bare.connection.error)
    const { error } = bare.connection
    await assert.rejects(bare.connection.openChannel({ port: server.port }, bounds), (reason) => reason === error)
    await assert.rejects(bare.connection.probe(bounds), (reason) => reason === error)
  })
})
