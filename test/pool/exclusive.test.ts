import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { check, listen, makeFastPool, makePool, named, RESTS_LONG, rejection, settling, startHost } from './world.ts'

describe('acquire: exclusive', () => {
  it('gives each a tunnel of its own, which nobody shares and which ends with the lease', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const shared = await pool.acquire(target)
    const own = await Promise.all(Array.from({ length: 3 }, () => pool.acquire(target, { exclusive: true })))
    const again = await pool.acquire(target)
    assert.equal(new Set([shared, ...own].map(({ generation }) => generation)).size, 4)
    assert.equal(again.generation, shared.generation)
    assert.equal(host.counts.logins, 4)
    for (const lease of own) await check(lease, host.http)
    for (const lease of own) lease.release()
    await until(() => pool.stats.tunnels.open === 1)
    await check(shared, host.http)
    for (const lease of [shared, again]) lease.release()
  })

  it('does not take the tunnel that is idle, nor leave one for others', async () => {
    await using site = await startHost()
    await using pool = makePool()
    ;(await pool.acquire(site.target)).release()
    const own = await pool.acquire(site.target, { exclusive: true })
    assert.equal(own.generation, 2)
    own.release()
    assert.equal(await pool.use(site.target, (lease) => lease.generation), 1)
    await until(() => pool.stats.closed === 1)
  })

  it('is lost alone', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const own = await pool.acquire(target, { exclusive: true })
    host.sever()
    await until(() => own.signal.aborted)
    const shared = await pool.acquire(target)
    assert.equal(shared.signal.aborted, false)
    shared.release()
  })

  it('shares the back-off: its failure makes the destination rest for all', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    host.refuse()
    const cause = await rejection(pool.acquire(target, { exclusive: true }), 'ERR_REFUSED')
    for (const exclusive of [true, false])
      assert.equal((await rejection(pool.acquire(target, { exclusive }), 'ERR_CIRCUIT_OPEN')).cause, cause)
    assert.equal(pool.stats.failed, 1)
  })

  it('shares the bar', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.rotateHostKey()
    await rejection(pool.acquire(target, { exclusive: true }), 'ERR_HOST_KEY')
    assert.equal(pool.health(target).state, 'barred')
    await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')
    await rejection(pool.acquire(target, { exclusive: true, whenResting: 'wait' }), 'ERR_CIRCUIT_OPEN')
    assert.equal(host.counts.connections, 1)
  })

  it('waits for a destination that rests, one dial at a time', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ backoffMinMillis: 20, backoffMaxMillis: 40 })
    const told = listen(pool)
    host.rejectAuth()
    const asks = Array.from({ length: 20 }, () => pool.acquire(target, { exclusive: true, whenResting: 'wait' }))
    await until(() => pool.stats.failed >= 24, { within: 5_000 })
    // The first go eight at a time, as logins at one address do; from then on each failure has its rest.
    const rests = named(told, 'destination.resting').length
    assert.ok(pool.stats.failed - rests <= 8, `${pool.stats.failed} failures and ${rests} rests`)
    host.rejectAuth(false)
    const leases = await Promise.all(asks)
    assert.equal(new Set(leases.map(({ generation }) => generation)).size, 20)
    for (const lease of leases) lease.release()
  })

  it('is dialled although the destination rests when it is told to, at most once a second', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makeFastPool(5, RESTS_LONG)
    host.rejectAuth()
    await rejection(pool.acquire(target), 'ERR_AUTH')
    const asked = performance.now()
    const forced = pool.acquire(target, { exclusive: true, whenResting: 'dial' })
    host.rejectAuth(false)
    const lease = await forced
    assert.ok(performance.now() - asked > 180)
    assert.equal(host.counts.connections, 2)
    // It is up: nobody need wait any longer.
    ;(await pool.acquire(target)).release()
    lease.release()
  })

  it('ends its dial when its only waiter leaves', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.freeze()
    const controller = new AbortController()
    const asked = settling(pool.acquire(target, { exclusive: true, signal: controller.signal }))
    await until(() => host.counts.connections === 1)
    controller.abort()
    await until(() => pool.resources().length === 0)
    assert.equal((asked.error as { code: string }).code, 'ERR_ABORTED')
    assert.equal(pool.stats.failed, 0)
  })

  it('survives being aborted in any turn of the loop', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    for (let turns = 0; turns < 60; turns += 1) {
      const controller = new AbortController()
      const asked = settling(pool.acquire(target, { exclusive: true, signal: controller.signal }))
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
      controller.abort()
      await until(() => asked.state === 'rejected')
    }
    await until(() => pool.report().tunnels.length === 0)
    assert.deepEqual(pool.resources(), [])
    assert.equal(pool.stats.waiting, 0)
    // Every place was given back: one more is dialled at once.
    ;(await pool.acquire(target, { exclusive: true })).release()
    assert.ok(host.counts.logins >= 1)
  })
})
