import assert from 'node:assert/strict'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { makeFastPool, random, rejection, startHost } from './world.ts'

/** At 20,000 times the machine's pace a destination is forgotten after 30 ms. */
const TIMES = 20_000
const PATIENT = {
  acquireTimeoutMillis: Infinity,
  openTimeoutMillis: Infinity,
  channelTimeoutMillis: Infinity,
  verifyAfterMillis: Infinity,
  keepAliveIntervalMillis: Infinity,
  closeGraceMillis: 60_000_000,
}

describe('a destination that nobody has used for 600 s', () => {
  it('is forgotten, and begins anew when it is asked for', async () => {
    await using site = await startHost()
    const { target } = site
    await using pool = makeFastPool(TIMES, { ...PATIENT, idleTimeoutMillis: 1 })
    ;(await pool.acquire(target)).release()
    await until(() => pool.health(target).state === 'unknown')
    assert.deepEqual(Object.values(pool.stats.destinations), [0, 0, 0, 0, 0, 0])
    const lease = await pool.acquire(target)
    assert.equal(lease.generation, 2)
    lease.release()
  })

  it('is not forgotten while a lease is out, nor before its bar has paused', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [used, shut] = fleet.hosts
    assert.ok(used && shut)
    await using pool = makeFastPool(TIMES, { ...PATIENT, idleTimeoutMillis: 1, barredRetryMillis: 4_000_000 })
    const lease = await pool.acquire(used.target)
    shut.rotateHostKey()
    await rejection(pool.acquire(shut.target), 'ERR_HOST_KEY')
    const began = performance.now()
    await until(() => performance.now() - began > 120)
    assert.equal(pool.health(used.target).state, 'serving')
    assert.equal(pool.health(shut.target).state, 'barred')
    lease.release()
    await until(() => pool.health(shut.target).state === 'unknown', { within: 5_000 })
  })

  it('serves who asks in the very moment of being forgotten', async () => {
    await using fleet = await startFleet({ hosts: 8 })
    await using pool = makeFastPool(TIMES, { ...PATIENT, idleTimeoutMillis: 1 })
    const at = random(600)
    const users = fleet.targets.map(async (target) => {
      for (let round = 0; round < 15; round += 1) {
        const lease = await pool.acquire(target, { exclusive: at() < 0.2 })
        lease.release()
        await new Promise((resolve) => setTimeout(resolve, 24 + at() * 16))
      }
    })
    await Promise.all(users)
    const generations = pool.stats.opened
    assert.ok(generations >= 100, `${generations} openings`)
    await until(() => Object.values(pool.stats.destinations).every((count) => count === 0), { within: 5_000 })
    assert.deepEqual(pool.report(), { tunnels: [], leases: [], waiting: [], unreaped: 0 })
  })
})
