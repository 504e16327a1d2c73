import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { check, makePool, RESTS_LONG, rejection, settling, startHost } from './world.ts'

/** How long a promise took, ms, and what it brought. */
async function timed<T>(promise: Promise<T>): Promise<[millis: number, value: T]> {
  const began = performance.now()
  const value = await promise
  return [performance.now() - began, value]
}

describe('probe', () => {
  it('makes a round trip through the connection that is there', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    ;(await pool.acquire(target)).release()
    const before = pool.health(target).lastVerifiedAt?.getTime() ?? 0
    await until(() => Date.now() > before + 20)
    host.delay(30)
    const [millis, health] = await timed(pool.probe(target))
    assert.ok(millis >= 50, `a round trip of 60 ms took ${millis} ms`)
    assert.equal(health.state, 'serving')
    assert.ok((health.lastVerifiedAt?.getTime() ?? 0) > before + 50)
    assert.deepEqual(health, pool.health(target))
    assert.equal(host.counts.connections, 1)
    assert.equal(pool.stats.leases, 0)
  })

  it('never dials unless asked', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    assert.equal((await pool.probe(target)).state, 'unknown')
    assert.equal(host.counts.connections, 0)
    const health = await pool.probe(target, { dial: true })
    assert.equal(health.state, 'serving')
    assert.ok(health.lastVerifiedAt !== undefined)
    assert.equal(host.counts.logins, 1)
    assert.equal((await pool.probe(target, { dial: true })).state, 'serving')
    assert.equal(host.counts.logins, 1)
  })

  it('says within channelTimeoutMillis that a frozen host is down, and drops its tunnel', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ channelTimeoutMillis: 120, verifyAfterMillis: Infinity })
    ;(await pool.acquire(target)).release()
    host.freeze()
    const [millis, health] = await timed(pool.probe(target))
    assert.ok(millis > 100 && millis < 400, `${millis} ms`)
    assert.equal(health.state, 'dormant')
    assert.equal(health.cause?.code, 'ERR_LOST')
    assert.equal(pool.stats.lost, 1)
  })

  it('asks twice before it drops a tunnel that is leased', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ channelTimeoutMillis: 100, verifyAfterMillis: Infinity })
    const lease = await pool.acquire(target)
    host.freeze()
    const [millis, health] = await timed(pool.probe(target))
    assert.ok(millis < 400)
    assert.equal(health.state, 'serving')
    assert.equal(lease.signal.aborted, false)
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
  })

  it('spares a leased tunnel that thaws in time', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ channelTimeoutMillis: 100, verifyAfterMillis: Infinity })
    const lease = await pool.acquire(target)
    host.freeze()
    await pool.probe(target)
    host.thaw()
    assert.equal((await pool.probe(target)).state, 'serving')
    await check(lease, host.http)
    lease.release()
  })

  it('resolves for a host that is down, with why', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    host.refuse()
    const health = await pool.probe(target, { dial: true })
    assert.deepEqual([health.state, health.cause?.code, health.failures], ['resting', 'ERR_REFUSED', 1])
    assert.ok(health.retryAt !== undefined)
    assert.equal((await pool.probe(target)).state, 'resting')
  })

  it('takes its own bound for all of it, a fraction of a millisecond and Infinity too', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: Infinity })
    host.freeze()
    const [millis, health] = await timed(pool.probe(target, { dial: true, timeoutMillis: 80.5 }))
    assert.ok(millis > 70 && millis < 400, `${millis} ms`)
    assert.equal(health.state, 'dialing')
    host.thaw()
    assert.equal((await pool.probe(target, { dial: true, timeoutMillis: Infinity })).state, 'serving')
    host.freeze()
    const [short] = await timed(pool.probe(target, { timeoutMillis: 0 }))
    assert.ok(short < 100)
    host.thaw()
    assert.equal((await pool.probe(target)).state, 'serving')
  })

  it('ends by its signal, at once if that has aborted', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: Infinity })
    await rejection(pool.probe(target, { signal: AbortSignal.abort() }), 'ERR_ABORTED')
    ;(await pool.acquire(target)).release()
    host.freeze()
    const controller = new AbortController()
    const probing = settling(pool.probe(target, { signal: controller.signal }))
    await Promise.resolve()
    controller.abort(new Error('enough'))
    await until(() => probing.state === 'rejected')
    assert.equal((probing.error as { code: string }).code, 'ERR_ABORTED')
    host.thaw()
    assert.equal((await pool.probe(target)).state, 'serving')
  })

  it('shares one round trip among 10,000 who ask, and all settle when the host is severed meanwhile', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ verifyAfterMillis: Infinity })
    ;(await pool.acquire(target)).release()
    const { signal } = new AbortController()
    assert.ok(
      (await Promise.all(Array.from({ length: 10_000 }, () => pool.probe(target, { signal })))).every(
        ({ state }) => state === 'serving',
      ),
    )
    host.freeze()
    const probing = Promise.all(Array.from({ length: 10_000 }, () => pool.probe(target)))
    host.sever()
    assert.ok((await probing).every(({ state }) => state === 'dormant'))
  })

  it('is refused by a pool that is closed', async () => {
    await using site = await startHost()
    const pool = makePool()
    await pool.close()
    await rejection(pool.probe(site.target), 'ERR_POOL_CLOSED')
    await rejection(pool.probe(site.target, { dial: true }), 'ERR_POOL_CLOSED')
  })
})
