import assert from 'node:assert/strict'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { check, listen, makePool, named, rejection, settling, startHost } from './world.ts'

describe('maxTunnels', () => {
  it('makes room by the least recently used tunnel without a lease', async () => {
    await using fleet = await startFleet({ hosts: 4 })
    const [a, b, c, d] = fleet.hosts
    assert.ok(a && b && c && d)
    await using pool = makePool({ maxTunnels: 3 })
    const told = listen(pool)
    for (const { target } of [a, b, c]) await pool.use(target, () => {})
    // Used again: b is the one that has been idle longest.
    await pool.use(a.target, () => {})
    await until(() => pool.stats.leases === 0)
    const lease = await pool.acquire(d.target)
    assert.deepEqual(
      [a, b, c].map(({ target }) => pool.health(target).state),
      ['serving', 'dormant', 'serving'],
    )
    assert.match(named(told, 'tunnel.closed')[0]?.reason ?? '', /maxTunnels/)
    assert.equal(pool.stats.tunnels.open, 3)
    lease.release()
  })

  it('never takes a leased one: who comes waits, and gets the room of the first that is given back', async () => {
    await using fleet = await startFleet({ hosts: 5 })
    await using pool = makePool({ maxTunnels: 2 })
    const [first, second, ...others] = fleet.targets
    assert.ok(first && second)
    const leases = [await pool.acquire(first), await pool.acquire(second)]
    const order: number[] = []
    const asks = others.map(async (target, index) => {
      const lease = await pool.acquire(target)
      order.push(index)
      lease.release()
    })
    const refused = await rejection(pool.acquire(fleet.targets[4] as never, { timeoutMillis: 30 }), 'ERR_ACQUIRE_TIMEOUT')
    assert.equal(refused.phase, 'queued')
    assert.equal(pool.stats.tunnels.open, 2)
    for (const [index, lease] of leases.entries()) {
      assert.equal(lease.signal.aborted, false)
      await check(lease, fleet.hosts[index]?.http as never)
    }
    leases[0]?.release()
    await Promise.all(asks)
    assert.deepEqual(order, [0, 1, 2])
    leases[1]?.release()
  })

  it('counts exclusive tunnels, dials that fail, and gives every room back', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [up, down] = fleet.hosts
    assert.ok(up && down)
    await using pool = makePool({ maxTunnels: 1, backoffMinMillis: 1, backoffMaxMillis: 1 })
    down.refuse()
    for (let round = 0; round < 20; round += 1) {
      await pool.use(up.target, () => {}, { exclusive: round % 2 === 0 })
      await until(() => pool.health(down.target).state !== 'resting')
      await rejection(pool.acquire(down.target), 'ERR_REFUSED')
    }
    await pool.use(up.target, () => {})
    assert.equal(pool.stats.tunnels.open, 1)
  })

  it('gives room to who waits when an aborted dial opens after all and nobody wants it', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [first, second] = fleet.hosts
    assert.ok(first && second)
    await using pool = makePool({ maxTunnels: 1 })
    first.freeze()
    const controller = new AbortController()
    const left = settling(pool.acquire(first.target, { signal: controller.signal }))
    await until(() => first.counts.connections === 1)
    const asked = pool.acquire(second.target, { timeoutMillis: 900 })
    controller.abort()
    await until(() => left.state === 'rejected')
    first.thaw()
    ;(await asked).release()
  })

  it('passes a place on when who was given it has gone in that very turn', async () => {
    await using fleet = await startFleet({ hosts: 12 })
    const [held, ...others] = fleet.targets
    assert.ok(held)
    await using pool = makePool({ maxTunnels: 1 })
    const lease = await pool.acquire(held)
    const controllers = others.map(() => new AbortController())
    const asks = others.map((target, index) =>
      settling(pool.acquire(target, { exclusive: true, signal: controllers[index]?.signal }).then((given) => given.release())),
    )
    await until(() => pool.stats.waiting === others.length)
    // Told between the end of the tunnel and what its end sets going.
    pool.on('tunnel.closed', () => {
      for (const controller of controllers.slice(0, -1)) controller.abort()
    })
    lease.release()
    await until(() => asks.every(({ state }) => state !== 'pending'))
    assert.equal(asks.at(-1)?.state, 'fulfilled')
    await pool.use(held, () => {})
  })

  it('replaces without a successor when there is no room for one', async () => {
    await using site = await startHost()
    await using pool = makePool({ maxTunnels: 1, drainTimeoutMillis: 50 })
    const lease = await pool.acquire(site.target)
    const retired = pool.retire(site.target)
    const next = pool.acquire(site.target)
    lease.release()
    await retired
    assert.equal((await next).generation, 2)
    ;(await next).release()
  })
})
