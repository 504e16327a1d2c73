import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { makePool, random, rejection, settling, startHost } from './world.ts'

describe('acquire: one dial for all who want a destination', () => {
  it('B26 serves 500 of 1,000 by one dial while the others are aborted at random times', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const at = random(26)
    host.delay(20)
    const asks = Array.from({ length: 1_000 }, (_, index) => {
      const controller = new AbortController()
      if (index % 2 === 1) setTimeout(() => controller.abort(), at() * 150)
      return pool.acquire(target, { signal: controller.signal })
    })
    const outcomes = await Promise.allSettled(asks)
    const served = outcomes.filter((outcome, index) => {
      if (outcome.status === 'rejected') assert.ok(index % 2 === 1 && outcome.reason.code === 'ERR_ABORTED', outcome.reason)
      return outcome.status === 'fulfilled'
    })
    assert.ok(served.length >= 500)
    assert.equal(host.counts.connections, 1)
    assert.equal(host.counts.logins, 1)
    assert.equal(pool.stats.leases, served.length)
    assert.equal(pool.stats.waiting, 0)
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.release()
    assert.equal(pool.stats.leases, 0)
  })

  it('goes on with the dial when one of two leaves', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.freeze()
    const controller = new AbortController()
    const left = pool.acquire(target, { signal: controller.signal })
    const stayed = pool.acquire(target)
    await until(() => host.counts.connections === 1)
    controller.abort(new Error('enough'))
    const error = await rejection(left, 'ERR_ABORTED')
    assert.equal((error.cause as Error).message, 'enough')
    host.thaw()
    const lease = await stayed
    assert.equal(lease.generation, 1)
    assert.deepEqual(host.counts.connections, 1)
    lease.release()
  })

  it('lets a dial that nobody waits for live for a second, and serves by it who comes back within it', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.freeze()
    const controller = new AbortController()
    const left = settling(pool.acquire(target, { signal: controller.signal }))
    await until(() => host.counts.connections === 1)
    controller.abort()
    await until(() => left.state === 'rejected')
    assert.equal(pool.stats.tunnels.opening, 1)
    const back = pool.acquire(target)
    host.thaw()
    ;(await back).release()
    assert.equal(host.counts.connections, 1)
  })

  it('aborts that dial after the second, with its socket', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.freeze()
    const controller = new AbortController()
    const left = settling(pool.acquire(target, { signal: controller.signal }))
    await until(() => host.counts.connections === 1)
    const began = performance.now()
    controller.abort()
    await until(() => left.state === 'rejected')
    await until(() => pool.resources().length === 0, { within: 1_500 })
    const lived = performance.now() - began
    assert.ok(lived >= 900, `it lived for ${lived} ms`)
    await pool.settled()
    // Nobody wanted it, so it is no failure: the next one is dialled at once.
    assert.equal(pool.health(target).state, 'dormant')
    assert.equal(pool.stats.failed, 0)
    host.thaw()
    ;(await pool.acquire(target)).release()
    assert.equal(host.counts.connections, 2)
  })
})
