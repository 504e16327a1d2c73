import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import type { Target } from '../../src/api/target.ts'
import { startFleet } from '../../src/testing/index.ts'
import { startSynHole } from '../support/syn-hole.ts'
import { until } from '../support/until.ts'
import { makePool, settling } from './world.ts'

const HOSTS = 900
const DEAD = 100

describe('1,000 hosts of which 100 swallow SYN', () => {
  it('has every healthy one up before a dead one has timed out, and closes them all about as quickly as one', async function () {
    this.timeout(60_000)
    await using fleet = await startFleet({ hosts: HOSTS })
    await using hole = await startSynHole({ hosts: DEAD })
    await using pool = makePool({ openTimeoutMillis: 30_000, acquireTimeoutMillis: 30_000, closeGraceMillis: 1_000 })
    const dead = hole.addresses.map((host): Target => ({ ...(fleet.targets[0] as Target), host, port: hole.port }))
    // Every tenth is dead, so that many of them are among the first to connect.
    const order = fleet.targets.flatMap((target, index) => (index % 9 === 0 ? [dead[index / 9] as Target, target] : [target]))
    const asks = new Map(order.map((target) => [target, settling(pool.acquire(target))]))
    const states = (targets: readonly Target[]) => targets.map((target) => asks.get(target)?.state)
    await until(() => states(fleet.targets).every((state) => state !== 'pending'), { within: 29_000 })
    assert.deepEqual(new Set(states(fleet.targets)), new Set(['fulfilled']))
    assert.deepEqual(new Set(states(dead)), new Set(['pending']))
    assert.equal(pool.stats.tunnels.open, HOSTS)
    assert.equal(pool.stats.failed, 0)

    const began = performance.now()
    const before = process.cpuUsage()
    await pool.destroy()
    const { user, system } = process.cpuUsage(before)
    // On a machine that is busy with other things it takes no longer by its own count.
    const took = Math.min(performance.now() - began, (user + system) / 1_000)
    assert.ok(took < 2_000, `${took} ms`)
    assert.deepEqual(pool.resources(), [])
    assert.deepEqual(new Set(states(dead)), new Set(['rejected']))
    assert.equal(pool.stats.closed, HOSTS)
  })
})
