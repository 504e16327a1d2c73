import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Target } from '../../src/api/target.ts'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { dialTcp } from './stalls.ts'
import { listen, makePool, named, RESTS_LONG, rejection, startHost } from './world.ts'

describe('back-off', () => {
  it('B80 keeps 100 destinations that are down and wanted to a bounded rate, out of step, and is quick again after a stable time', async () => {
    await using fleet = await startFleet({ hosts: 100 })
    await using pool = makePool({ backoffMinMillis: 50, backoffMaxMillis: 400 })
    const told = listen(pool)
    for (const host of fleet.hosts) host.refuse()
    const began = performance.now()
    const asks = fleet.targets.map((target) => pool.acquire(target, { whenResting: 'wait', timeoutMillis: Infinity }))
    await until(() => pool.stats.failed >= 600, { within: 15_000 })
    // 50, 100, 200, 400, 400, … ms with full jitter: six each take 600 ms in the mean; without, a fifth of a second.
    const took = performance.now() - began
    assert.ok(took > 350, `${took} ms`)
    const rests = named(told, 'destination.resting').map(({ retryAt }) => retryAt.getTime())
    assert.ok(new Set(rests).size > rests.length / 5, 'in lock-step')
    for (const host of fleet.hosts) host.refuse(false)
    for (const lease of await Promise.all(asks)) lease.release()
    // Once stable, the first failure counts as the first again.
    const [host] = fleet.hosts
    assert.ok(host)
    await until(() => pool.health(host.target).failures === 0, { within: 10_000 })
    const lease = await pool.acquire(host.target)
    host.refuse()
    host.sever()
    await until(() => lease.signal.aborted)
    await rejection(pool.acquire(host.target, { whenResting: 'dial' }), 'ERR_REFUSED')
    assert.equal(pool.health(host.target).failures, 1)
    const wait = (pool.health(host.target).retryAt?.getTime() ?? Infinity) - Date.now()
    assert.ok(wait <= 100, `${wait} ms`)
  })

  it('does not count a loss as a failure: the redial comes at once', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    for (let round = 1; round <= 5; round += 1) {
      const lease = await pool.acquire(target)
      assert.equal(lease.generation, round)
      host.sever()
      await until(() => lease.signal.aborted)
      assert.equal(pool.health(target).failures, 0)
    }
    assert.equal(pool.stats.lost, 5)
    assert.equal(pool.stats.failed, 0)
  })

  it('dials nobody again whom nobody wants, when the tunnel is lost', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    ;(await pool.acquire(target)).release()
    host.sever()
    await until(() => pool.stats.closed === 1)
    await pool.settled()
    assert.equal(pool.health(target).state, 'dormant')
    assert.equal(pool.health(target).cause?.code, 'ERR_LOST')
    assert.equal(host.counts.connections, 1)
  })

  it('spreads the redials when more than ten tunnels are lost at once', async () => {
    await using fleet = await startFleet({ hosts: 60 })
    await using pool = makePool()
    const dials: number[] = []
    const connect: Target['connect'] = (to) => {
      dials.push(performance.now())
      return dialTcp(to)
    }
    const targets = fleet.targets.map((target): Target => ({ ...target, connect }))
    const leases = await Promise.all(targets.map((target) => pool.acquire(target)))
    const lost = leases.map((lease) => once(lease.signal, 'abort'))
    dials.length = 0
    for (const host of fleet.hosts) host.sever()
    const redial = async (target: Target, index: number) => {
      await lost[index]
      ;(await pool.acquire(target)).release()
    }
    await Promise.all(targets.map(redial))
    assert.equal(dials.length, 60)
    const after = dials.map((at) => at - (dials[0] ?? 0))
    // The first ten are not yet a storm; the others wait a random part of 250 ms each.
    assert.ok((after[54] ?? 0) > 150, `the dials began ${after.map(Math.round)} ms after the first`)
    assert.equal(pool.stats.failed, 0)
  })
})
