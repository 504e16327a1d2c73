import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TcpAddress, UnixAddress } from '../../src/api/forward.ts'
import { type Fleet, type FleetHost, startFleet } from '../../src/testing/index.ts'
import { clientOf, ending, kept, refusals } from '../channels/world.ts'
import { RESTS_LONG } from '../pool/world.ts'
import { startPool } from '../support/pool.ts'
import { startRelay } from '../support/relay.ts'
import { echo, startTcpServer, type TcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { say, told } from './world.ts'

/** Connected, its words sent, and nothing heard yet. */
async function parked(address: UnixAddress | TcpAddress, words: string): Promise<Socket> {
  const client = clientOf(address)
  await once(client, 'connect')
  await new Promise((sent) => client.end(words, () => sent(undefined)))
  return client
}
async function heard(client: Socket): Promise<string> {
  let words = ''
  client.on('data', (chunk: Buffer) => {
    words += chunk
  })
  const end = await ending(client)
  return end === 'end' ? words : end
}

describe('a standing endpoint without a tunnel', () => {
  let fleet: Fleet
  let host: FleetHost
  let server: TcpServer
  let served: string[]
  beforeEach(async () => {
    fleet = await startFleet()
    host = fleet.hosts[0] as FleetHost
    served = []
    server = await startTcpServer((socket) => {
      let words = ''
      socket.on('data', (chunk: Buffer) => {
        words += chunk
      })
      socket.on('end', () => {
        served.push(words)
        socket.end(words)
      })
    })
  })
  afterEach(async () => {
    await fleet.close()
    await server[Symbol.asyncDispose]()
  })

  for (const listen of ['unix', 'tcp'] as const) {
    it(`parks who comes until there is one: each is served once, with all it said (${listen})`, async () => {
      await using pool = startPool({ backoffMinMillis: 20, backoffMaxMillis: 20 })
      const standing = await pool.listen(host.target, { to: { port: server.port }, listen })
      assert.equal(await say(standing.address, 'first'), 'first')
      host.refuse()
      host.sever()
      await until(() => standing.state !== 'up')
      const words = Array.from({ length: 64 }, (_, index) => `${index} `.repeat(500))
      const clients = await Promise.all(words.map((each) => parked(standing.address, each)))
      await until(() => pool.stats.waiting === 64 && pool.stats.failed > 2)
      assert.equal(standing.state, 'waiting')
      host.refuse(false)
      assert.deepEqual(await Promise.all(clients.map(heard)), words)
      assert.deepEqual(served.slice(1).sort(), [...words].sort())
      assert.equal(standing.state, 'up')
      await until(() => pool.stats.leases === 0 && kept(pool, 'channel').length === 0)
    })

    it(`cuts the 65th, and those whose time is up, so that it looks like a failure (${listen})`, async () => {
      await using pool = startPool({ acquireTimeoutMillis: 500, backoffMinMillis: 20, backoffMaxMillis: 20 })
      host.refuse()
      const standing = await pool.listen(host.target, { to: { port: server.port }, listen })
      const events = told(standing)
      const clients = await Promise.all(Array.from({ length: 64 }, (_, index) => parked(standing.address, `${index}`)))
      await until(() => pool.stats.waiting === 64)
      const outcome = Promise.all(clients.map(heard))
      const late = clientOf(standing.address)
      const end = heard(late)
      late.end('late')
      // Who is cut on a unix socket before it has said a word sees an end.
      assert.match(await end, listen === 'tcp' ? /ECONNRESET|EPIPE/ : /ECONNRESET|EPIPE|^$/)
      assert.equal(pool.stats.waiting, 64)
      assert.deepEqual(events, ['refused ERR_POOL_EXHAUSTED'])
      assert.deepEqual(await outcome, Array(64).fill('ECONNRESET'))
      assert.equal(events.length, 65)
      assert.ok(
        events.slice(1).every((event) => /^refused ERR_(ACQUIRE_TIMEOUT|CIRCUIT_OPEN)$/.test(event)),
        String(events),
      )
      assert.equal(served.length, 0)
      assert.equal(standing.state, 'dormant')
      await until(() => kept(pool, 'socket').length === 0)
    })
  }

  it('reads nothing from who is parked, however much comes: it costs the kernel, and not us', async () => {
    await using pool = startPool(RESTS_LONG)
    host.refuse()
    const standing = await pool.listen(host.target, { to: { port: server.port }, listen: 'tcp' })
    const client = clientOf(standing.address)
    await once(client, 'connect')
    const rss = process.memoryUsage().arrayBuffers
    const chunk = Buffer.alloc(64 * 1024)
    let sent = 0
    while (client.write(chunk) && sent < 64 * 1024 * 1024) sent += chunk.length
    await until(() => pool.stats.waiting === 1 || pool.stats.failed > 0)
    assert.ok(sent < 64 * 1024 * 1024)
    assert.ok(process.memoryUsage().arrayBuffers - rss < 2 * 1024 * 1024)
    client.destroy()
  })

  it('does not wait where that is vain: it rests for longer than anybody may wait', async () => {
    await using pool = startPool({ ...RESTS_LONG, acquireTimeoutMillis: 5_000 })
    host.refuse()
    const standing = await pool.listen(host.target, { to: { port: server.port } })
    const events = told(standing)
    const began = performance.now()
    assert.match(await say(standing.address), /ECONNRESET|EPIPE/)
    assert.match(await say(standing.address), /ECONNRESET|EPIPE/)
    assert.ok(performance.now() - began < 4_000)
    assert.deepEqual(events, ['refused ERR_CIRCUIT_OPEN', 'refused ERR_CIRCUIT_OPEN'])
  })

  it('redials at once for one who is parked, although nobody else wants it, and gives up when that one leaves', async () => {
    await using pool = startPool()
    const standing = await pool.listen(host.target, { to: { port: server.port } })
    assert.equal(await say(standing.address, 'first'), 'first')
    await until(() => pool.stats.leases === 0)
    host.sever()
    await until(() => standing.state === 'dormant')
    assert.equal(pool.stats.opened, 1)
    assert.equal(await say(standing.address, 'second'), 'second')
    assert.deepEqual([pool.stats.opened, pool.stats.failed], [2, 0])
  })

  it('says of a remote that is not there what it is, in the fact and the event, and keeps the tunnel', async () => {
    await using pool = startPool()
    const facts = refusals(pool)
    const gone = await startTcpServer(echo)
    await gone[Symbol.asyncDispose]()
    const standing = await pool.listen(host.target, { to: { port: gone.port }, listen: 'tcp' })
    const events = told(standing)
    assert.match(await say(standing.address), /ECONNRESET|EPIPE/)
    assert.deepEqual(events, ['up', 'refused ERR_CHANNEL_REFUSED'])
    assert.deepEqual(
      facts.map(({ error, generation }) => [error.code, generation]),
      [['ERR_CHANNEL_REFUSED', 1]],
    )
    assert.deepEqual([standing.state, pool.stats.lost], ['up', 0])
  })

  it('takes a client along whose channel was asked for and had no answer when the tunnel was lost', async () => {
    await using relay = await startRelay({ port: host.target.port ?? 0 })
    await using pool = startPool()
    const standing = await pool.listen(relay.through(host.target), { to: { port: server.port }, listen: 'tcp' })
    assert.equal(await say(standing.address, 'first'), 'first')
    host.muteChannels()
    const client = await parked(standing.address, 'through the next one')
    await until(() => pool.stats.leases === 1)
    const words = heard(client)
    relay.reset()
    host.muteChannels(false)
    assert.equal(await words, 'through the next one')
    assert.deepEqual(served, ['first', 'through the next one'])
    assert.equal(pool.stats.opened, 2)
  })

  it('cuts who has said something to a server that is lost, and does not say it again to the next', async () => {
    await using pool = startPool()
    const standing = await pool.listen(host.target, { to: { port: server.port }, listen: 'tcp' })
    const client = clientOf(standing.address)
    client.write('once')
    await until(() => server.accepted[0]?.bytesRead === 4)
    host.sever()
    assert.equal(await ending(client), 'ECONNRESET')
    assert.equal(await say(standing.address, 'another'), 'another')
    assert.ok(served.filter((words) => words === 'once').length <= 1 && server.accepted.length === 2)
  })
})
