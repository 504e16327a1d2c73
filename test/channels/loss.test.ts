import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Lease, TunnelPool } from '../../src/index.ts'
import { startPool } from '../support/pool.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer, type TcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'

/** What a client hears first of the two. */
async function fate(stream: Socket): Promise<string> {
  return await new Promise((resolve) => {
    stream.once('end', () => resolve('end'))
    stream.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}

describe('a connection that is lost in the middle of data', () => {
  let sshd: Sshd
  let relay: Relay
  let server: TcpServer
  let pool: TunnelPool
  let lease: Lease

  before(async () => {
    sshd = await startSshd()
    // Sends something and then no more.
    server = await startTcpServer((socket) => {
      socket.resume().write('the beginning of')
      socket.on('end', () => socket.end())
    })
  })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await sshd.close()
  })

  beforeEach(async () => {
    relay = await startRelay(sshd)
    pool = startPool()
    lease = await pool.acquire(relay.through(sshd.target))
  })

  afterEach(async () => {
    await relay.close()
    lease.release()
    await pool.close()
    await until(() => server.open === 0)
  })

  const to = () => ({ port: server.port })
  const losses = [
    ['by RST', () => relay.reset()],
    ['by the end of sshd', () => sshd.killSessions()],
    ['by garbage', () => relay.garbage()],
  ] as const

  for (const [how, lose] of losses) {
    it(`${how} is ERR_LOST to a socket of connect, after what had come`, async () => {
      const socket = await lease.connect(to())
      assert.equal(String((await once(socket, 'data'))[0]), 'the beginning of')
      const fated = fate(socket as unknown as Socket)
      lose()
      assert.equal(await fated, 'ERR_LOST')
    })

    it(`${how} is ECONNRESET to a client of a TCP forward`, async () => {
      const { address } = await lease.forward({ to: to(), listen: 'tcp' })
      const client = connect(address)
      assert.equal(String((await once(client, 'data'))[0]), 'the beginning of')
      const fated = fate(client)
      lose()
      assert.equal(await fated, 'ECONNRESET')
    })
  }

  it('is ECONNRESET to a client of a unix forward whose bytes were not taken yet', async () => {
    const { address } = await lease.forward({ to: to() })
    const client = connect({ path: address.socketPath })
    await once(client, 'data')
    relay.freeze()
    const fated = fate(client)
    // More than windows and buffers take.
    while (client.writableLength < 1_000_000) client.write(Buffer.alloc(1_000_000))
    await until(() => pool.resources().some(({ kind }) => kind === 'channel'))
    relay.reset()
    assert.match(await fated, /^(ECONNRESET|EPIPE)$/)
  })

  it('while a channel opens is ECONNRESET to a TCP client, and to a unix client that has written', async () => {
    const [tcp, unix] = [await lease.forward({ to: to(), listen: 'tcp' }), await lease.forward({ to: to() })]
    relay.freeze()
    const clients = [connect(tcp.address), connect({ path: unix.address.socketPath })]
    await Promise.all(clients.map((client) => once(client, 'connect')))
    for (const client of clients) client.write('hello')
    await until(() => pool.resources().filter(({ kind }) => kind === 'channel').length === 2)
    const fates = clients.map(fate)
    relay.reset()
    assert.deepEqual(await Promise.all(fates), ['ECONNRESET', 'ECONNRESET'])
  })

  it('is the same to a client whose channel the server refuses', async () => {
    const nowhere = { port: 1 }
    const refusals: string[] = []
    pool.on('forward.refused', ({ error }) => refusals.push(error.code))
    const [tcp, unix] = [await lease.forward({ to: nowhere, listen: 'tcp' }), await lease.forward({ to: nowhere })]
    const clients = [connect(tcp.address), connect({ path: unix.address.socketPath })]
    for (const client of clients) client.write('hello')
    assert.deepEqual(await Promise.all(clients.map(fate)), ['ECONNRESET', 'ECONNRESET'])
    await until(() => refusals.length === 2)
    assert.deepEqual(refusals, ['ERR_CHANNEL_REFUSED', 'ERR_CHANNEL_REFUSED'])
    assert.equal(lease.signal.aborted, false)
  })

  it('B13: takes the listeners with it; the next connection has new ones', async () => {
    const { address } = await lease.forward({ to: to(), listen: 'tcp' })
    relay.reset()
    await once(lease.signal, 'abort')
    await until(() => pool.resources().every(({ kind }) => kind !== 'listener'))
    const client = connect(address)
    assert.equal((await once(client, 'error'))[0].code, 'ECONNREFUSED')
    await using next = await pool.acquire(relay.through(sshd.target), { forwards: { web: { to: to(), listen: 'tcp' } } })
    const again = connect(next.forwards.web.address)
    assert.equal(String((await once(again, 'data'))[0]), 'the beginning of')
    again.destroy()
  })
})
