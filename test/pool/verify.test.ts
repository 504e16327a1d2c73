import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { listen, makePool, named, startHost } from './world.ts'

describe('verifyAfterMillis', () => {
  it('has an unproven tunnel make one round trip for all who ask, before it is lent', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: 20 })
    ;(await pool.acquire(target)).release()
    await until(() => Date.now() > (pool.health(target).lastVerifiedAt?.getTime() ?? 0) + 30)
    host.delay(40)
    const began = performance.now()
    const leases = await Promise.all(Array.from({ length: 100 }, () => pool.acquire(target)))
    const millis = performance.now() - began
    assert.ok(millis > 70 && millis < 250, `a round trip of 80 ms took ${millis} ms`)
    assert.deepEqual(new Set(leases.map(({ generation }) => generation)), new Set([1]))
    assert.equal(host.counts.logins, 1)
    for (const lease of leases) lease.release()
  })

  it('asks nothing of one that was proven a moment ago', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: 10_000 })
    ;(await pool.acquire(target)).release()
    host.freeze()
    for (let round = 0; round < 10; round += 1) (await pool.acquire(target, { timeoutMillis: 0 })).release()
  })

  for (const verifyAfterMillis of [0, 0.001, 1]) {
    it(`lends after one round trip each, for ${verifyAfterMillis} ms`, async () => {
      await using site = await startHost()
      const { host, target } = site
      await using pool = makePool({ verifyAfterMillis })
      for (let round = 0; round < 20; round += 1) {
        for (const whenResting of ['reject', 'wait', 'dial'] as const)
          (await pool.acquire(target, { whenResting, timeoutMillis: 2_000 })).release()
      }
      assert.equal(host.counts.logins, 1)
    })
  }

  it('replaces a dead tunnel: whoever asks gets the next generation', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: 0, channelTimeoutMillis: 100 })
    const told = listen(pool)
    ;(await pool.acquire(target)).release()
    // The connection there is stays as it is; a new one is well.
    host.muteChannels()
    host.freeze()
    const asks = Array.from({ length: 20 }, () => pool.acquire(target))
    await until(() => pool.stats.lost === 1)
    host.thaw()
    const leases = await Promise.all(asks)
    assert.deepEqual(new Set(leases.map(({ generation }) => generation)), new Set([2]))
    assert.equal(host.counts.connections, 2)
    assert.equal(named(told, 'tunnel.lost').length, 1)
    assert.equal(pool.stats.failed, 0)
    for (const lease of leases) lease.release()
  })

  it('replaces a tunnel that is lost while it is verified', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: 0 })
    ;(await pool.acquire(target)).release()
    host.freeze()
    const asked = pool.acquire(target)
    await Promise.resolve()
    host.sever()
    host.thaw()
    const lease = await asked
    assert.equal(lease.generation, 2)
    lease.release()
  })

  it('never verifies for Infinity', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: Infinity })
    ;(await pool.acquire(target)).release()
    host.freeze()
    ;(await pool.acquire(target, { timeoutMillis: 0 })).release()
  })
})
