import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { makePool, rejection, settling, startHost } from './world.ts'

describe('acquire: bounds', () => {
  it('ends a wait for a place to dial by its deadline, phase queued', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [first, second] = fleet.hosts
    assert.ok(first && second)
    await using pool = makePool({ maxConnecting: 1, openTimeoutMillis: 5_000 })
    first.freeze()
    const blocking = settling(pool.acquire(first.target))
    await until(() => first.counts.connections === 1)
    const error = await rejection(pool.acquire(second.target, { timeoutMillis: 50 }), 'ERR_ACQUIRE_TIMEOUT')
    assert.equal(error.phase, 'queued')
    assert.equal(error.retryable, true)
    assert.equal(second.counts.connections, 0)
    assert.equal(blocking.state, 'pending')
    await pool.destroy()
    assert.equal(blocking.state, 'rejected')
  })

  it('names the phase of the dial that it waited for', async () => {
    await using site = await startHost()
    await using pool = makePool()
    site.host.freeze()
    const error = await rejection(pool.acquire(site.target, { timeoutMillis: 60 }), 'ERR_ACQUIRE_TIMEOUT')
    assert.equal(error.phase, 'banner')
  })

  it('takes 0 for at once: a lease if one is there, no dial', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    await rejection(pool.acquire(target, { timeoutMillis: 0 }), 'ERR_ACQUIRE_TIMEOUT')
    assert.equal(pool.health(target).state, 'dormant')
    assert.equal(host.counts.connections, 0)
    const lease = await pool.acquire(target)
    const other = await pool.acquire(target, { timeoutMillis: 0 })
    assert.equal(other.generation, lease.generation)
    for (const one of [lease, other]) one.release()
  })

  it("takes Infinity for never, also as the pool's own", async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ acquireTimeoutMillis: Infinity, openTimeoutMillis: Infinity })
    host.freeze()
    const asks = [pool.acquire(target), pool.acquire(target, { timeoutMillis: Infinity })]
    await until(() => host.counts.connections === 1)
    host.thaw()
    for (const lease of await Promise.all(asks)) lease.release()
  })

  it('refuses one more than maxWaiting, which does not count those who hold a lease', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ maxWaiting: 3 })
    const held = await pool.acquire(target)
    const others = await Promise.all(Array.from({ length: 10 }, () => pool.acquire(target)))
    host.freeze()
    const asks = Array.from({ length: 3 }, () => pool.acquire(target, { exclusive: true }))
    const error = await rejection(pool.acquire(target, { exclusive: true }), 'ERR_POOL_EXHAUSTED')
    assert.equal(error.retryable, true)
    assert.equal(error.phase, 'queued')
    // An open tunnel is lent all the same.
    others.push(await pool.acquire(target))
    host.thaw()
    for (const lease of [held, ...others, ...(await Promise.all(asks))]) lease.release()
  })

  it('rejects with an aborted signal before anything is done', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const reason = new Error('too late')
    const error = await rejection(pool.acquire(target, { signal: AbortSignal.abort(reason) }), 'ERR_ABORTED')
    assert.equal(error.cause, reason)
    assert.equal(error.retryable, false)
    assert.equal(host.counts.connections, 0)
    assert.equal(pool.health(target).state, 'unknown')
  })

  it('lets 1,000 acquires share a signal, and takes its listener back', async () => {
    await using site = await startHost()
    const { target } = site
    await using pool = makePool()
    const { signal } = new AbortController()
    // A warning of a leak fails the test: the hooks listen.
    const leases = await Promise.all(Array.from({ length: 1_000 }, () => pool.acquire(target, { signal })))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    for (const lease of leases) lease.release()
  })

  it('rejects, and does not throw, for what it cannot understand', async () => {
    await using pool = makePool()
    const call = pool.acquire as (...given: unknown[]) => Promise<unknown>
    await rejection(call.call(pool, undefined), 'ERR_INVALID_OPTION')
    await rejection(call.call(pool, { host: 'h', user: 'u', identity: 'ambient' }, { timeout: 5 }), 'ERR_INVALID_OPTION')
    await rejection(call.call(pool, { host: 'h', user: 'u', identity: 'ambient' }, { timeoutMillis: -1 }), 'ERR_INVALID_OPTION')
  })
})
