import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { startFleet } from '../../src/testing/index.ts'
import { text } from '../channels/world.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { refusal, startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { ask, held } from './world.ts'

describe('pool.agentFor', () => {
  let sshd: Sshd
  let origin: Origin

  before(async () => {
    sshd = await startSshd()
    origin = await startOrigin({ unix: true })
  })
  after(async () => {
    await origin.close()
    await sshd.close()
  })

  it('holds a lease while a request is on a socket, and none while the socket is free', async () => {
    await using pool = startPool()
    const agent = pool.agentFor(sshd.target, { port: origin.port })
    const hanging = request({ agent, path: '/hang' }).on('error', () => {})
    hanging.end()
    await until(() => held(pool).channels === 1)
    assert.equal(pool.stats.leases, 1)
    assert.deepEqual(await ask(agent, { path: '/health' }), { status: 200, text: 'ok', reused: false })
    await until(() => held(pool).leases === 1)
    assert.equal(held(pool).channels, 2)
    assert.deepEqual(await ask(agent, { path: '/echo' }, 'again'), { status: 200, text: 'again', reused: true })
    assert.equal(held(pool).channels, 2)
    hanging.destroy()
    await until(() => held(pool).leases === 0 && held(pool).channels === 1)
    agent.destroy()
    await until(() => held(pool).channels === 0)
  })

  it('goes where the request wants, as seen from the target, when not told where', async () => {
    await using pool = startPool()
    const agent = pool.agentFor(sshd.target)
    assert.equal((await ask(agent, { host: '127.0.0.1', port: origin.port, path: '/health' })).text, 'ok')
    assert.equal((await ask(agent, { socketPath: origin.socketPath, path: '/health' })).text, 'ok')
    assert.equal((await ask(agent, { socketPath: origin.socketPath, path: '/health' })).reused, true)
    const unix = pool.agentFor(sshd.target, { socketPath: origin.socketPath as string })
    assert.equal((await ask(unix, { path: '/health' })).text, 'ok')
    assert.equal(pool.stats.opened, 1)
  })

  it('keeps to maxSockets and maxFreeSockets, and closes each socket without keepAlive', async () => {
    await using pool = startPool()
    const to = { port: origin.port }
    const two = pool.agentFor(sshd.target, to, { maxSockets: 2, maxFreeSockets: 1 })
    let most = 0
    const each = async () => {
      await ask(two, { path: '/bytes/1000' })
      most = Math.max(most, held(pool).channels)
    }
    await Promise.all(Array.from({ length: 12 }, each))
    assert.equal(most, 2)
    await until(() => held(pool).channels === 1 && held(pool).leases === 0)
    two.destroy()
    const brief = pool.agentFor(sshd.target, to, { keepAlive: false })
    assert.equal((await ask(brief, { path: '/health' })).status, 200)
    await until(() => held(pool).channels === 0 && held(pool).leases === 0)
  })

  it('times out by the agent, by the request and by setTimeout', async () => {
    await using pool = startPool()
    const to = { port: origin.port }
    await using warm = await pool.acquire(sshd.target)
    const ways = [
      { agent: pool.agentFor(sshd.target, to, { timeout: 60 }), options: {} },
      { agent: pool.agentFor(sshd.target, to), options: { timeout: 60 } },
      { agent: pool.agentFor(sshd.target, to), options: {}, millis: 60 },
    ]
    for (const { agent, options, millis } of ways) {
      for (const isReused of [false, true]) {
        const asked = request({ agent, path: '/hang', ...options }).on('error', () => {})
        if (millis !== undefined) asked.setTimeout(millis)
        asked.end()
        await once(asked, 'timeout')
        assert.equal(asked.reusedSocket, isReused)
        asked.destroy()
        await until(() => held(pool).channels === 0)
        await ask(agent, { path: '/health' })
      }
      agent.destroy()
      await until(() => held(pool).channels === 0)
    }
    assert.equal(warm.generation, 1)
  })

  it('upgrades: the socket is the user’s, and its lease ends with it', async () => {
    await using server = await startTcpServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello')
        socket.pipe(socket)
      })
    })
    await using pool = startPool()
    const agent = pool.agentFor(sshd.target, { port: server.port })
    const asked = request({ agent, headers: { connection: 'Upgrade', upgrade: 'echo' } })
    asked.end()
    const [, socket, head] = await once(asked, 'upgrade')
    assert.equal(String(head), 'hello')
    socket.write('there')
    assert.equal(String((await once(socket, 'data'))[0]), 'there')
    assert.equal(pool.stats.leases, 1)
    socket.destroy()
    await until(() => held(pool).leases === 0 && held(pool).channels === 0)
  })

  it('tells the TunnelError of a target that refuses, of a host that does, and of a pool that is closed', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    const pool = startPool()
    const nobody = pool.agentFor(sshd.target, { port: 1 })
    await refusal(ask(nobody, {}), 'ERR_CHANNEL_REFUSED')
    assert.equal(pool.stats.leases, 0)
    host.refuse()
    await refusal(ask(pool.agentFor(host.target, host.http), {}), 'ERR_REFUSED')
    const agent = pool.agentFor(sshd.target, { port: origin.port })
    const hanging = ask(agent, { path: '/hang' })
    await until(() => held(pool).channels === 1)
    await Promise.all([refusal(hanging, 'ERR_POOL_CLOSED'), pool.destroy()])
    await refusal(ask(agent, {}), 'ERR_POOL_CLOSED')
    assert.deepEqual(held(pool), { leases: 0, channels: 0 })
  })

  it('refuses what is no target, no place and no options', () => {
    const pool = startPool()
    const expected = (name: string) => ({ code: 'ERR_INVALID_OPTION', message: new RegExp(name) })
    assert.throws(() => pool.agentFor({} as never), expected('host'))
    assert.throws(() => pool.agentFor(sshd.target, { prot: 1 } as never), expected('port'))
    assert.throws(() => pool.agentFor(sshd.target, undefined, { tls: 1 as never }), expected('tls'))
  })

  it('reads a body to its end, however slowly', async () => {
    await using pool = startPool()
    const agent = pool.agentFor(sshd.target, { port: origin.port })
    const asked = request({ agent, path: '/bytes/3000000' })
    asked.end()
    const [response] = await once(asked, 'response')
    assert.equal((await text(response)).length, 3_000_000)
  })
})
