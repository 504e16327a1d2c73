import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { check, listen, makePool, named, rejection, settling, startHost } from './world.ts'

describe('retire', () => {
  it('opens the successor first, lends it, and resolves when the old one is final', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    const told = listen(pool)
    const old = await pool.acquire(target)
    const retired = settling(pool.retire(target, { reason: 'a new kernel' }))
    await until(() => pool.stats.opened === 2)
    await until(() => pool.stats.tunnels.draining === 1)
    assert.equal(named(told, 'tunnel.closed').length, 0)
    const next = await pool.acquire(target)
    assert.equal(next.generation, 2)
    await check(old, host.http)
    assert.equal(retired.state, 'pending')
    old.release()
    await until(() => retired.state === 'fulfilled')
    const [closed] = named(told, 'tunnel.closed')
    assert.equal(closed?.generation, 1)
    assert.match(closed?.reason ?? '', /a new kernel/)
    assert.equal(old.signal.aborted, false)
    next.release()
  })

  it('cuts leases that stay for longer than drainTimeoutMillis', async () => {
    await using site = await startHost()
    await using pool = makePool({ drainTimeoutMillis: 60 })
    const old = await pool.acquire(site.target)
    await pool.retire(site.target)
    assert.equal(old.signal.reason.code, 'ERR_LOST')
  })

  it('leaves the old one serving when the successor does not open, and says why', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const lease = await pool.acquire(target)
    host.refuse()
    const errors = await Promise.all([rejection(pool.retire(target)), rejection(pool.retire(target))])
    for (const error of errors) assert.equal(error.code, 'ERR_REFUSED')
    assert.equal(pool.stats.failed, 1)
    assert.equal(pool.health(target).state, 'serving')
    assert.equal(await pool.use(target, ({ generation }) => generation), 1)
    await check(lease, host.http)
    lease.release()
  })

  it('with force ends it all the same', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    const lease = await pool.acquire(target)
    host.refuse()
    const retired = settling(pool.retire(target, { force: true }))
    await until(() => pool.stats.tunnels.draining === 1)
    await check(lease, host.http)
    await rejection(pool.acquire(target))
    lease.release()
    await until(() => retired.state === 'fulfilled')
    assert.equal(pool.stats.tunnels.open, 0)
  })

  it('ends it when the successor meets another host key', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    const lease = await pool.acquire(target)
    host.rotateHostKey()
    const retired = settling(pool.retire(target))
    await until(() => pool.health(target).state === 'barred')
    assert.equal((await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')).retryable, false)
    lease.release()
    await until(() => retired.state !== 'pending')
    await until(() => pool.resources().length === 0)
  })

  it('does not lend a dial that began before it', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.freeze()
    const asked = pool.acquire(target)
    await until(() => host.counts.connections === 1)
    const retired = pool.retire(target)
    host.thaw()
    const lease = await asked
    assert.equal(lease.generation, 2)
    await retired
    assert.equal(host.counts.logins, 2)
    lease.release()
  })

  it('is joined by others: one successor, however many retire', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    await pool.use(target, () => {})
    await Promise.all(Array.from({ length: 50 }, () => pool.retire(target)))
    assert.equal(host.counts.logins, 2)
    assert.equal(await pool.use(target, ({ generation }) => generation), 2)
  })

  it('of a target without a tunnel is done at once', async () => {
    await using site = await startHost()
    await using pool = makePool()
    await pool.retire(site.target)
    await pool.use(site.target, () => {})
    site.host.sever()
    await until(() => pool.health(site.target).state === 'dormant')
    await pool.retire(site.target)
    assert.equal(site.host.counts.logins, 1)
  })

  it('loses no request of those who use the destination meanwhile', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    await pool.use(target, () => {})
    let isOver = false
    const users = Array.from({ length: 8 }, async () => {
      let checks = 0
      for (; !isOver; checks += 1) await pool.use(target, (lease) => check(lease, host.http))
      return checks
    })
    for (let round = 0; round < 5; round += 1) await pool.retire(target)
    isOver = true
    const checks = await Promise.all(users)
    assert.ok(checks.every((count) => count > 0))
    assert.equal(pool.stats.lost + pool.stats.failed, 0)
    assert.equal(host.counts.logins, 6)
  })
})
