import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { until } from '../support/until.ts'
import { makePool, startHost } from './world.ts'

describe('pool.socket', () => {
  it('is a socket at once, for node:http too, and holds a lease until it is closed', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const socket = pool.socket(target, host.http)
    assert.equal(socket.connecting, true)
    socket.once('connect', () => assert.equal(pool.stats.leases, 1))
    const [response] = await once(get({ path: '/health', createConnection: () => socket }), 'response')
    assert.equal(response.statusCode, 200)
    response.resume()
    await once(response, 'end')
    await until(() => pool.stats.leases === 0)
    await until(() => host.counts.openChannels === 0)
  })

  it("fails with the dial's own error", async () => {
    await using site = await startHost()
    await using pool = makePool()
    site.host.refuse()
    const [error] = await once(pool.socket(site.target, { port: 80 }), 'error')
    assert.equal(error.code, 'ERR_REFUSED')
    assert.deepEqual(pool.resources(), [])
  })

  it("fails with the server's own reason, and gives the lease back", async () => {
    await using site = await startHost()
    await using pool = makePool()
    const [error] = await once(pool.socket(site.target, { port: 1 }), 'error')
    assert.equal(error.code, 'ERR_CHANNEL_REFUSED')
    await until(() => pool.stats.leases === 0)
  })

  it('takes its wait back when it is destroyed before it is open, at any moment', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    for (let turns = 0; turns < 40; turns += 1) {
      const socket = pool.socket(target, host.http)
      for (let turn = 0; turn < turns; turn += 1) await (turns % 2 === 0 ? new Promise(setImmediate) : Promise.resolve())
      socket.destroy()
    }
    await until(() => pool.stats.leases + pool.stats.waiting === 0)
    await until(() => host.counts.openChannels === 0)
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
  })

  it('is lost with its tunnel', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const socket = pool.socket(target, host.http)
    await once(socket, 'connect')
    const failed = once(socket, 'error')
    host.sever()
    const [error] = await failed
    assert.equal(error.code, 'ERR_LOST')
    assert.equal(pool.stats.leases, 0)
  })

  it('throws for what it cannot understand', async () => {
    await using pool = makePool()
    const target = { host: 'h', user: 'u', identity: 'ambient' } as const
    assert.throws(() => pool.socket(target, { port: 70_000 }), { code: 'ERR_INVALID_OPTION' })
    assert.throws(() => pool.socket({ ...target, host: '' }, { port: 80 }), { code: 'ERR_INVALID_OPTION' })
  })
})
