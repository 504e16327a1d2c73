import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { check, listen, makeFastPool, makePool, named, startHost } from './world.ts'

describe('idleTimeoutMillis', () => {
  it('0 ends a tunnel with its last lease, and not before', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ idleTimeoutMillis: 0 })
    const leases = await Promise.all([pool.acquire(target), pool.acquire(target)])
    leases[0].release()
    await check(leases[1], host.http)
    assert.equal(pool.stats.tunnels.open, 1)
    leases[1].release()
    await until(() => pool.resources().length === 0)
    assert.equal(pool.stats.lost, 0)
    assert.equal(pool.health(target).state, 'dormant')
    await pool.use(target, (lease) => check(lease, host.http))
    assert.equal(host.counts.logins, 2)
  })

  it('counts from the last return', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ idleTimeoutMillis: 80 })
    const told = listen(pool)
    const began = performance.now()
    while (performance.now() - began < 200) await pool.use(target, (lease) => check(lease, host.http))
    const last = performance.now()
    await until(() => pool.stats.closed === 1)
    assert.ok(performance.now() - last > 70)
    assert.equal(named(told, 'tunnel.closed')[0]?.reason, 'idle')
    assert.equal(named(told, 'tunnel.closed')[0]?.forced, false)
    assert.equal(host.counts.logins, 1)
  })

  it('B83 loses no check of a poll that is rarer than it', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ idleTimeoutMillis: 10 })
    for (let round = 1; round <= 10; round += 1) {
      await pool.use(target, (lease) => check(lease, host.http))
      await until(() => pool.stats.closed === round)
    }
    assert.equal(host.counts.requests, 10)
    assert.equal(pool.stats.failed + pool.stats.lost, 0)
  })

  it('Infinity keeps it', async () => {
    await using site = await startHost()
    await using pool = makePool({ idleTimeoutMillis: Infinity })
    await pool.use(site.target, () => {})
    await until(() => site.host.counts.logins === 1)
    assert.equal(pool.stats.tunnels.open, 1)
  })
})

describe('maxLifetimeMillis', () => {
  it('ends an idle tunnel, and replaces one in use before it ends it', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ maxLifetimeMillis: 60, drainTimeoutMillis: 5_000 })
    await pool.use(target, () => {})
    await until(() => pool.stats.closed === 1)
    const lease = await pool.acquire(target)
    await until(() => pool.stats.opened === 3)
    await check(lease, host.http)
    assert.equal(lease.signal.aborted, false)
    assert.equal((await pool.use(target, ({ generation }) => generation)) > lease.generation, true)
    lease.release()
    await until(() => pool.report().tunnels.every(({ generation }) => generation !== 2))
    assert.equal(pool.stats.lost, 0)
  })

  it('keeps on trying when the successor does not open, and the old one serves meanwhile', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makeFastPool(8, { maxLifetimeMillis: 400, backoffMinMillis: 10, backoffMaxMillis: 20 })
    const lease = await pool.acquire(target)
    host.refuse()
    await until(() => pool.stats.failed >= 2, { within: 4_000 })
    await check(lease, host.http)
    assert.equal(pool.health(target).state, 'serving')
    host.refuse(false)
    await until(() => pool.stats.opened === 2, { within: 4_000 })
    lease.release()
  })
})
