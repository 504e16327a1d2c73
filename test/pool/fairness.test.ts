import assert from 'node:assert/strict'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { listen, makePool, named, startHost } from './world.ts'

describe('acquire: who goes first', () => {
  it('serves those who wait for one destination in the order in which they asked', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const order: number[] = []
    host.freeze()
    const asks = Array.from({ length: 200 }, async (_, index) => {
      const lease = await pool.acquire(target, { whenResting: (['reject', 'wait', 'dial'] as const)[index % 3] })
      order.push(index)
      return lease
    })
    await until(() => host.counts.connections === 1)
    host.thaw()
    const leases = await Promise.all(asks)
    assert.deepEqual(
      order,
      leases.map((_, index) => index),
    )
    for (const lease of leases) lease.release()
  })

  it('dials destinations in the order in which they were asked for', async () => {
    await using fleet = await startFleet({ hosts: 12 })
    await using pool = makePool({ maxConnecting: 1 })
    const told = listen(pool)
    const leases = await Promise.all(fleet.targets.map((target) => pool.acquire(target)))
    const opened = named(told, 'tunnel.opened').map(({ destination }) => destination)
    assert.deepEqual(
      opened,
      leases.map(({ destination }) => destination),
    )
    for (const lease of leases) lease.release()
  })

  it('lets a destination with a thousand waiters take no more than its turn', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [crowded, lone] = fleet.hosts
    assert.ok(crowded && lone)
    await using pool = makePool({ maxConnecting: 1, openTimeoutMillis: 150 })
    crowded.freeze()
    const crowd = Array.from({ length: 1_000 }, () => pool.acquire(crowded.target))
    const lease = pool.acquire(lone.target)
    const outcomes = await Promise.allSettled(crowd)
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason.code === 'ERR_OPEN_TIMEOUT'))
    ;(await lease).release()
    assert.equal(crowded.counts.connections, 1)
  })
})
