import assert from 'node:assert/strict'
import type { Health } from '../../src/api/report.ts'
import { until } from '../support/until.ts'
import { check, makePool, RESTS_LONG, rejection, settling, startHost } from './world.ts'

const nothing: Health = {
  state: 'unknown',
  lastVerifiedAt: undefined,
  failures: 0,
  retryAt: undefined,
  cause: undefined,
  remoteAddress: undefined,
}

describe('health', () => {
  it('tells of every state, and asks nobody', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ idleTimeoutMillis: 30, ...RESTS_LONG })
    assert.deepEqual(pool.health(target), nothing)

    host.freeze()
    const asked = pool.acquire(target)
    assert.deepEqual(pool.health(target), { ...nothing, state: 'dialing' })
    host.thaw()
    const lease = await asked
    const serving = pool.health(target)
    assert.equal(serving.state, 'serving')
    assert.equal(serving.remoteAddress, `127.0.0.1:${target.port}`)
    assert.ok(serving.lastVerifiedAt !== undefined && Math.abs(serving.lastVerifiedAt.getTime() - Date.now()) < 1_000)

    lease.release()
    await until(() => pool.health(target).state === 'dormant')
    const dormant = pool.health(target)
    assert.ok(dormant.lastVerifiedAt !== undefined && dormant.lastVerifiedAt >= serving.lastVerifiedAt)
    assert.equal(dormant.remoteAddress, undefined)
    assert.equal(dormant.cause, undefined)

    host.refuse()
    const cause = await rejection(pool.acquire(target), 'ERR_REFUSED')
    const resting = pool.health(target)
    assert.deepEqual([resting.state, resting.failures, resting.cause], ['resting', 1, cause])
    assert.ok(resting.retryAt !== undefined && resting.retryAt.getTime() > Date.now())
    assert.ok(resting.lastVerifiedAt !== undefined)

    pool.reset(target)
    host.refuse(false)
    host.rotateHostKey()
    await rejection(pool.acquire(target), 'ERR_HOST_KEY')
    assert.equal(pool.health(target).state, 'barred')
    const { connections } = host.counts
    for (let round = 0; round < 100; round += 1) pool.health(target)
    assert.equal(host.counts.connections, connections)
  })

  it('is leaving while the pool waits for a lease to come back', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    const closing = settling(pool.close({ timeoutMillis: 5_000 }))
    assert.equal(pool.health(site.target).state, 'leaving')
    assert.equal(pool.stats.destinations.leaving, 1)
    lease.release()
    await until(() => closing.state === 'fulfilled')
    assert.equal(pool.health(site.target).state, 'unknown')
  })

  it('moves lastVerifiedAt on with every byte from the server, and not without', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const lease = await pool.acquire(target)
    const verifiedAt = () => pool.health(target).lastVerifiedAt?.getTime() ?? 0
    const first = verifiedAt()
    await until(() => Date.now() > first + 20)
    await check(lease, host.http)
    const second = verifiedAt()
    assert.ok(second >= first + 19)
    await until(() => Date.now() > second + 20)
    assert.ok(Math.abs(verifiedAt() - second) <= 2)
    lease.release()
  })

  it('keeps the cause of a loss until it serves again', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    ;(await pool.acquire(target)).release()
    host.sever()
    await until(() => pool.health(target).state === 'dormant')
    assert.equal(pool.health(target).cause?.code, 'ERR_LOST')
    ;(await pool.acquire(target)).release()
    assert.equal(pool.health(target).cause, undefined)
  })
})
