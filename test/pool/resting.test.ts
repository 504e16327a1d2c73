import assert from 'node:assert/strict'
import type { TunnelError } from '../../src/errors.ts'
import { until } from '../support/until.ts'
import { listen, makeFastPool, makePool, named, RESTS_LONG, rejection, settling, startHost } from './world.ts'

describe('whenResting', () => {
  it("rejects at once by default, with the dial's own error and when to come again", async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    const told = listen(pool)
    host.rejectAuth()
    const cause = await rejection(pool.acquire(target), 'ERR_AUTH')
    const error = await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')
    assert.equal(error.cause, cause)
    assert.equal(error.phase, 'auth')
    assert.equal(error.retryable, cause.retryable)
    assert.ok(error.retryAt instanceof Date && error.retryAt.getTime() > Date.now())
    assert.deepEqual(
      named(told, 'destination.resting').map(({ retryAt, error }) => [retryAt, error]),
      [[error.retryAt, cause]],
    )
    assert.equal(host.counts.connections, 1)
  })

  it("is retryable when the dial's error is", async () => {
    await using site = await startHost()
    await using pool = makePool(RESTS_LONG)
    site.host.refuse()
    await rejection(pool.acquire(site.target), 'ERR_REFUSED')
    assert.equal((await rejection(pool.acquire(site.target), 'ERR_CIRCUIT_OPEN')).retryable, true)
  })

  it('waits for the next attempt, over several failures, until its deadline', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ backoffMinMillis: 10, backoffMaxMillis: 20 })
    host.rejectAuth()
    const served = settling(pool.acquire(target, { whenResting: 'wait' }).then((lease) => lease.release()))
    const late = rejection(pool.acquire(target, { whenResting: 'wait', timeoutMillis: 400 }), 'ERR_ACQUIRE_TIMEOUT')
    await until(() => pool.stats.failed >= 3)
    // Its time is up in the middle of a dial.
    host.freeze()
    const error = await late
    assert.equal((error.cause as TunnelError).code, 'ERR_AUTH')
    assert.equal(error.retryable, false)
    assert.equal(served.state, 'pending')
    host.rejectAuth(false)
    host.thaw()
    await until(() => served.state === 'fulfilled')
  })

  it('does not wait in vain: rejected at once when the rest is longer than it may wait', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    host.refuse()
    const cause = await rejection(pool.acquire(target), 'ERR_REFUSED')
    const began = performance.now()
    const error = await rejection(pool.acquire(target, { whenResting: 'wait', timeoutMillis: 5_000 }), 'ERR_CIRCUIT_OPEN')
    assert.ok(performance.now() - began < 1_000)
    assert.equal(error.cause, cause)
    // Whoever waits for ever waits.
    const patient = settling(pool.acquire(target, { whenResting: 'wait', timeoutMillis: Infinity }))
    assert.equal(pool.stats.waiting, 1)
    await pool.destroy()
    assert.equal((patient.error as TunnelError).code, 'ERR_POOL_CLOSED')
  })

  it('stops waiting when the rest that begins is longer than it may wait', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    host.refuse()
    const error = await rejection(pool.acquire(target, { whenResting: 'wait', timeoutMillis: 10_000 }), 'ERR_CIRCUIT_OPEN')
    assert.equal((error.cause as TunnelError).code, 'ERR_REFUSED')
  })

  it('stops waiting when the destination is barred', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.rotateHostKey()
    const error = await rejection(pool.acquire(target, { whenResting: 'wait' }))
    assert.equal(error.code === 'ERR_HOST_KEY' ? error.code : (error.cause as TunnelError).code, 'ERR_HOST_KEY')
    assert.equal(error.retryable, false)
  })

  it('B80 dials now when told to, once for all who ask, and at most once a second', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makeFastPool(5, RESTS_LONG)
    host.rejectAuth()
    await rejection(pool.acquire(target), 'ERR_AUTH')
    const began = performance.now()
    const asks = Array.from({ length: 50 }, () => rejection(pool.acquire(target, { whenResting: 'dial' }), 'ERR_AUTH'))
    await Promise.all(asks)
    const first = performance.now() - began
    assert.ok(first > 180 && first < 500, `${first} ms`)
    assert.equal(host.counts.connections, 2)
    host.rejectAuth(false)
    const leases = await Promise.all(Array.from({ length: 50 }, () => pool.acquire(target, { whenResting: 'dial' })))
    assert.ok(performance.now() - began > 360)
    assert.equal(host.counts.connections, 3)
    for (const lease of leases) lease.release()
  })

  it('serves all who wait when one of them has it dialled', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makeFastPool(5, RESTS_LONG)
    host.refuse()
    await rejection(pool.acquire(target), 'ERR_REFUSED')
    const patient = pool.acquire(target, { whenResting: 'wait', timeoutMillis: Infinity })
    host.refuse(false)
    const [one, other] = await Promise.all([patient, pool.acquire(target, { whenResting: 'dial' })])
    assert.equal(one.generation, other.generation)
    for (const lease of [one, other]) lease.release()
  })

  it('B86 dials no more when the last one who waited has gone', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ backoffMinMillis: 40, backoffMaxMillis: 40 })
    for (let round = 0; round < 5; round += 1) {
      host.rejectAuth()
      const controller = new AbortController()
      const asked = settling(pool.acquire(target, { whenResting: 'wait', signal: controller.signal }))
      await until(() => pool.health(target).state === 'resting')
      controller.abort()
      await until(() => asked.state === 'rejected')
      const { connections } = host.counts
      await until(() => pool.health(target).state === 'dormant')
      await pool.settled()
      assert.equal(host.counts.connections, connections)
    }
    assert.deepEqual(pool.resources(), [])
  })
})
