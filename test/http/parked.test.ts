import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import type { FleetHost } from '../../src/testing/contract.ts'
import { startFleet } from '../../src/testing/index.ts'
import { text } from '../channels/world.ts'
import { startPool } from '../support/pool.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { ask, held } from './world.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

describe('a parked socket', () => {
  it('does not keep its tunnel from idling, and is closed first', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool({ idleTimeoutMillis: 60 })
    const agent = pool.agentFor(host.target, host.http)
    await ask(agent, { path: '/health' })
    assert.equal(held(pool).channels, 1)
    await until(() => pool.stats.closed === 1 && pool.resources().length === 0)
    assert.deepEqual(await ask(agent, { path: '/health' }), { status: 200, text: 'ok', reused: false })
  })

  const [hosts, maxTunnels] = process.env.WARREN_LONG === '1' ? [1_000, 100] : [12, 4]
  it(`makes way: ${maxTunnels} tunnels serve ${hosts} hosts, round after round`, async function () {
    this.timeout(hosts * 300)
    await using fleet = await startFleet({ hosts })
    await using pool = startPool({ maxTunnels, acquireTimeoutMillis: 120_000, openTimeoutMillis: 60_000 })
    const agents = fleet.hosts.map((host) => pool.agentFor(host.target, host.http))
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(agents.map((agent) => ask(agent, { path: '/health' })))
      assert.ok(answers.every(({ status }) => status === 200))
      assert.ok(pool.stats.tunnels.open <= maxTunnels)
    }
    assert.equal(pool.stats.leases, 0)
  })

  it('goes with its generation when that is retired, while requests go on without a failure', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    const agent = pool.agentFor(host.target, host.http)
    const stop = new AbortController()
    let answered = 0
    const worker = async () => {
      while (!stop.signal.aborted) {
        assert.equal((await ask(agent, { path: '/health' })).status, 200)
        answered += 1
      }
    }
    const workers = Promise.all(Array.from({ length: 8 }, worker))
    for (let round = 1; round <= 5; round += 1) {
      await until(() => answered > round * 50)
      await pool.retire(host.target)
      assert.equal(pool.stats.closed, round)
    }
    stop.abort()
    await workers
    assert.equal(host.counts.openChannels, held(pool).channels)
  })

  it('that dies before a byte of the next request was sent is replaced, the request none the wiser', async () => {
    const served: Socket[] = []
    await using server = await startTcpServer((socket) => {
      served.push(socket)
      socket.on('data', () => socket.write(OK))
    })
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    const agent = pool.agentFor(host.target, { port: server.port })
    await ask(agent, {})
    // On the socket, and silent: the headers go out with the body.
    const asked = request({ agent, method: 'POST' })
    await once(asked, 'socket')
    assert.equal(asked.reusedSocket, true)
    served[0]?.end()
    await until(() => served.length === 2)
    asked.end('late')
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(await text(response), 'ok')
    await until(() => held(pool).leases === 0 && held(pool).channels === 1)
    assert.equal(host.counts.channels, 2)
  })

  it('that has sent something of a request is not tried again', async () => {
    const served: Socket[] = []
    await using server = await startTcpServer((socket) => {
      served.push(socket)
      socket.once('data', () => socket.write(OK))
    })
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    const agent = pool.agentFor(host.target, { port: server.port })
    await ask(agent, {})
    const asked = request({ agent })
    asked.end()
    await until(() => (served[0]?.bytesRead ?? 0) > 100)
    served[0]?.destroy()
    const [error] = await once(asked, 'error')
    assert.equal(error.code, 'ECONNRESET')
    assert.equal(served.length, 1)
    await until(() => held(pool).leases === 0)
  })

  it('that the server closes, or on which it says what nobody asked, is not used again', async () => {
    const served: Socket[] = []
    await using server = await startTcpServer((socket) => {
      served.push(socket)
      socket.on('data', () => socket.write(OK))
    })
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    const agent = pool.agentFor(host.target, { port: server.port })
    for (const spoil of [
      () => served.at(-1)?.end(),
      () => served.at(-1)?.resetAndDestroy(),
      () => served.at(-1)?.write('HTTP/1.1 408 '),
    ]) {
      assert.deepEqual(await ask(agent, {}), { status: 200, text: 'ok', reused: false })
      spoil()
      await until(() => held(pool).channels === 0)
    }
  })

  it('is not trusted when its tunnel may be dead: that is proven first', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool({ verifyAfterMillis: 30, keepAliveIntervalMillis: 0, channelTimeoutMillis: 50 })
    const agent = pool.agentFor(host.target, host.http)
    await ask(agent, { path: '/health' })
    host.freeze()
    const asked = new Date()
    await until(() => Date.now() - asked.getTime() > 60)
    const answer = ask(agent, { path: '/health' })
    await until(() => pool.stats.lost === 1)
    host.thaw()
    assert.deepEqual(await answer, { status: 200, text: 'ok', reused: false })
    assert.equal(pool.stats.opened, 2)
  })
})
