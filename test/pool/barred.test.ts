import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { TunnelError } from '../../src/errors.ts'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { listen, makePool, named, RESTS_LONG, rejection, startHost } from './world.ts'

describe('a barred destination', () => {
  it('B61 is not dialled however often it is asked for, and says why and since when', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ barredRetryMillis: 600_000 })
    const told = listen(pool)
    host.rotateHostKey()
    const cause = await rejection(pool.acquire(target), 'ERR_HOST_KEY')
    for (let round = 0; round < 50; round += 1) {
      for (const whenResting of ['reject', 'wait', 'dial'] as const) {
        const error = await rejection(pool.acquire(target, { whenResting }), 'ERR_CIRCUIT_OPEN')
        assert.equal(error.cause, cause)
        assert.equal(error.retryable, false)
        assert.ok(error.retryAt instanceof Date)
      }
      await turn()
    }
    assert.equal(host.counts.connections, 1)
    assert.deepEqual(
      named(told, 'destination.barred').map(({ error }) => error),
      [cause],
    )
    const { state, failures, cause: known } = pool.health(target)
    assert.deepEqual([state, failures, known], ['barred', 1, cause])
  })

  it('is dialled once when asked to after its pause, and barred again if that fails', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ barredRetryMillis: 60 })
    host.rotateHostKey()
    await rejection(pool.acquire(target), 'ERR_HOST_KEY')
    for (let round = 2; round <= 4; round += 1) {
      await rejection(pool.acquire(target, { whenResting: 'dial' }), 'ERR_CIRCUIT_OPEN')
      // Refused at the door until the pause is over; nobody else may dial then, either.
      const forced = await until(async () => {
        const error = await rejection(pool.acquire(target, { whenResting: 'dial' }))
        return error.code === 'ERR_HOST_KEY' && error
      })
      assert.equal(host.counts.connections, round)
      assert.equal((await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')).cause, forced)
    }
  })

  it('is served again after reset', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ barredRetryMillis: Infinity })
    host.rotateHostKey()
    await rejection(pool.acquire(target), 'ERR_HOST_KEY')
    assert.equal((await rejection(pool.acquire(target, { whenResting: 'dial' }), 'ERR_CIRCUIT_OPEN')).retryAt, undefined)
    pool.reset(target)
    assert.deepEqual(
      { ...pool.health(target) },
      {
        state: 'dormant',
        lastVerifiedAt: undefined,
        failures: 0,
        retryAt: undefined,
        cause: undefined,
        remoteAddress: undefined,
      },
    )
    await rejection(pool.acquire(target), 'ERR_HOST_KEY')
    assert.equal(host.counts.connections, 2)
  })

  it('says what is to be changed when the key cannot be read, without a connection', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const target = { ...site.target, identity: { path: '/nonexistent/key' } }
    const error = await rejection(pool.acquire(target), 'ERR_KEY_FORMAT')
    assert.match(error.message, /\/nonexistent\/key/)
    assert.equal(((await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')).cause as TunnelError).code, 'ERR_KEY_FORMAT')
    assert.equal(site.host.counts.connections, 0)
  })

  it('is not what a refused login makes of it: keys may still be on their way', async () => {
    await using sshd = await startSshd()
    await using pool = makePool({ backoffMinMillis: 1, backoffMaxMillis: 1 })
    const target = { ...sshd.target, identity: { key: makeKeyPair().private } }
    for (let round = 0; round < 4; round += 1) {
      await rejection(pool.acquire(target), 'ERR_AUTH')
      await until(() => pool.health(target).state === 'dormant')
    }
    assert.equal(pool.health(target).failures, 4)
  })
})

describe('reset', () => {
  it('ends a rest: who waits is served at once', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool(RESTS_LONG)
    host.refuse()
    await rejection(pool.acquire(target), 'ERR_REFUSED')
    const waiting = pool.acquire(target, { whenResting: 'wait', timeoutMillis: Infinity })
    host.refuse(false)
    pool.reset(target)
    ;(await waiting).release()
    pool.reset(target)
    assert.equal(pool.health(target).state, 'serving')
  })

  it('of a target that nobody has asked for does nothing', async () => {
    await using site = await startHost()
    await using pool = makePool()
    pool.reset(site.target)
    assert.equal(pool.health(site.target).state, 'unknown')
  })
})
