import assert from 'node:assert/strict'
import { once } from 'node:events'
import { until } from '../support/until.ts'
import { check, listen, makePool, named, rejection, settling, startHost } from './world.ts'

describe('a lease: release', () => {
  it('counts once, however often it is called', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const told = listen(pool)
    const [lease, other] = await Promise.all([pool.acquire(site.target), pool.acquire(site.target)])
    lease.release()
    lease.release(new Error('a fault that comes too late'))
    await lease[Symbol.asyncDispose]()
    assert.equal(pool.stats.leases, 1)
    await until(() => named(told, 'lease.released').length > 0)
    assert.equal(named(told, 'lease.released').length, 1)
    await check(other, site.host.http)
    other.release()
    assert.equal(pool.stats.leases, 0)
  })

  it("ends the sockets and commands made with it, and nobody else's", async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const [lease, other] = await Promise.all([pool.acquire(target), pool.acquire(target)])
    const sockets = [await lease.connect(host.http), await lease.connect(host.http), lease.socket(host.http)]
    const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    const run = settling(lease.exec('sleep 60'))
    const kept = await other.connect(host.http)
    const runsOn = settling(other.exec('sleep 0.2'))
    await until(() => host.counts.openChannels === 6)
    lease.release()
    await closed
    await until(() => host.counts.openChannels === 2)
    await until(() => run.state === 'rejected')
    assert.equal((run.error as { code: string }).code, 'ERR_ABORTED')
    await until(() => runsOn.state === 'fulfilled')
    assert.equal(kept.destroyed, false)
    other.release()
    await until(() => host.counts.openChannels === 0)
  })

  it('is final: nothing more is done with it', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const lease = await pool.acquire(target)
    lease.release()
    await rejection(lease.connect(host.http), 'ERR_ABORTED')
    await rejection(lease.exec('true'), 'ERR_ABORTED')
    await rejection(lease.forward({ to: { port: 80 } }), 'ERR_ABORTED')
    const [error] = await once(lease.socket(host.http), 'error')
    assert.equal(error.code, 'ERR_ABORTED')
    assert.equal(lease.signal.aborted, false)
    assert.equal(host.counts.channels, 0)
  })

  it('with a fault keeps this generation from being lent again, and cuts nobody', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    const told = listen(pool)
    const [faulty, other] = await Promise.all([pool.acquire(target), pool.acquire(target)])
    const fault = new Error('it answers nonsense')
    faulty.release(fault)
    const next = await pool.acquire(target)
    assert.equal(next.generation, 2)
    await check(other, host.http)
    assert.equal(other.signal.aborted, false)
    assert.deepEqual(pool.stats.tunnels, { opening: 0, open: 1, draining: 1 })
    const [released] = named(told, 'lease.released')
    assert.equal(released?.fault, fault)
    other.release()
    await until(() => pool.stats.closed === 1)
    assert.match(named(told, 'tunnel.closed')[0]?.reason ?? '', /fault/)
    assert.equal(pool.stats.lost, 0)
    next.release()
  })

  it('with a fault that comes late leaves the next generation alone', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const old = await pool.acquire(target)
    host.sever()
    await until(() => old.signal.aborted)
    const next = await pool.acquire(target)
    assert.equal(next.generation, 2)
    old.release(new Error('about generation 1'))
    const again = await pool.acquire(target)
    assert.equal(again.generation, 2)
    await check(again, host.http)
    for (const lease of [next, again]) lease.release()
    assert.equal(host.counts.logins, 2)
  })

  it('refuses a fault that is no error', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    assert.throws(() => lease.release('a string' as never), { code: 'ERR_INVALID_OPTION' })
    assert.equal(pool.stats.leases, 1)
    lease.release()
  })
})
