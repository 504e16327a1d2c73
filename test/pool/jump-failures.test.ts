import assert from 'node:assert/strict'
import type { TunnelErrorCode } from '../../src/errors.ts'
import type { FleetHost } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { startChain, TRANSPORTS } from './chain.ts'
import { check, listen, makePool, named, RESTS_LONG, rejection, settling } from './world.ts'

const cases: ReadonlyArray<readonly [string, (hop: FleetHost) => void, TunnelErrorCode, string | undefined]> = [
  ['refuses connections', (hop) => hop.refuse(), 'ERR_REFUSED', 'connect'],
  ['refuses the login', (hop) => hop.rejectAuth(), 'ERR_AUTH', 'auth'],
  ['has another host key', (hop) => hop.rotateHostKey(), 'ERR_HOST_KEY', 'hostkey'],
]

for (const transport of TRANSPORTS)
  describe(`a jump that fails (${transport})`, () => {
    for (const [what, break_, code, phase] of cases)
      for (const position of [0, 1]) {
        const where = position === 0 ? 'the outer' : 'the inner'
        it(`because ${where} hop ${what} is told with that hop, and is no failure of the target`, async () => {
          await using chain = await startChain({ hops: 2 })
          const [target] = chain.targets
          assert.ok(target)
          break_(chain.hops[position] ?? assert.fail())
          await using pool = makePool({ transport, ...RESTS_LONG, acquireTimeoutMillis: 5_000 })
          const told = listen(pool)
          const error = await rejection(pool.acquire(target), code)
          assert.deepEqual([error.hop, error.phase], [chain.names[position], phase])
          const { failures, cause } = pool.health(target)
          assert.equal(failures, 0)
          assert.equal(cause?.hop, chain.names[position])
          assert.equal(named(told, 'tunnel.failed').length, 1)
          assert.equal(chain.hosts[0]?.counts.connections, 0)
          const refused = await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')
          assert.deepEqual([refused.hop, (refused.cause as { code?: string }).code], [chain.names[position], code])
        })
      }

    it('bars those behind it, until reset through any of them', async () => {
      await using chain = await startChain({ hosts: 2 })
      const [hop] = chain.hops
      const [one, other] = chain.targets
      assert.ok(hop && one && other)
      hop.rotateHostKey()
      await using pool = makePool({ transport })
      await rejection(pool.acquire(one, { whenResting: 'wait' }), 'ERR_HOST_KEY')
      const { state, cause, retryAt } = pool.health(other)
      assert.deepEqual([state, cause, retryAt], ['unknown', undefined, undefined])
      const refused = await rejection(pool.acquire(other, { whenResting: 'wait' }), 'ERR_CIRCUIT_OPEN')
      assert.deepEqual([refused.hop, pool.health(other).state], [chain.names[0], 'barred'])
      assert.equal(pool.health(one).state, 'barred')
      pool.reset(other)
      await rejection(pool.acquire(one), 'ERR_HOST_KEY')
      assert.equal(hop.counts.connections, 2)
    })

    it('is waited for by those who wait, and told to those who do not; all are served when it is back', async () => {
      await using chain = await startChain({ hosts: 2 })
      const [hop] = chain.hops
      const [one, other] = chain.targets
      assert.ok(hop && one && other)
      hop.refuse()
      await using pool = makePool({ transport, backoffMinMillis: 50, backoffMaxMillis: 50 })
      const waiting = [one, other].map((target) => pool.acquire(target, { whenResting: 'wait' }))
      const states = waiting.map(settling)
      await rejection(pool.acquire(one), 'ERR_REFUSED')
      await until(() => pool.stats.failed >= 3)
      const error = await rejection(pool.acquire(other))
      assert.equal(error.hop, chain.names[0])
      assert.deepEqual(
        states.map(({ state }) => state),
        ['pending', 'pending'],
      )
      hop.refuse(false)
      const leases = await Promise.all(waiting)
      await Promise.all(leases.map((lease, index) => check(lease, chain.hosts[index]?.http ?? assert.fail())))
      assert.equal(hop.counts.logins, 1)
    })

    it('tells those who would wait in vain at once', async () => {
      await using chain = await startChain()
      const [target] = chain.targets
      const [hop] = chain.hops
      assert.ok(target && hop)
      hop.refuse()
      await using pool = makePool({ ...RESTS_LONG, transport })
      const error = await rejection(pool.acquire(target, { whenResting: 'wait', timeoutMillis: 60_000 }))
      assert.equal(error.hop, chain.names[0])
      assert.equal(pool.stats.waiting, 0)
    })

    it('is dialled again for one who says so, once for all of them', async () => {
      await using chain = await startChain({ hosts: 5 })
      const [hop] = chain.hops
      assert.ok(hop)
      hop.refuse()
      await using pool = makePool({ ...RESTS_LONG, transport })
      await Promise.all(chain.targets.map((target) => rejection(pool.acquire(target), 'ERR_REFUSED')))
      assert.equal(pool.stats.failed, 1)
      hop.refuse(false)
      const leases = await Promise.all(chain.targets.map((target) => pool.acquire(target, { whenResting: 'dial' })))
      assert.equal(hop.counts.logins, 1)
      for (const lease of leases) lease.release()
    })

    it('that does not answer is named when the time is up, with the phase of its dial', async () => {
      await using chain = await startChain({ hops: 2 })
      const [target] = chain.targets
      assert.ok(target)
      chain.hops[0]?.freeze()
      await using pool = makePool({ transport })
      const error = await rejection(pool.acquire(target, { timeoutMillis: 300 }), 'ERR_ACQUIRE_TIMEOUT')
      // ssh does not say how far it has come.
      assert.deepEqual([error.hop, error.phase], [chain.names[0], transport === 'ssh2' ? 'banner' : 'connect'])
      assert.match(error.message, /within 300 ms/)
    })

    it('that does not let through is named, and that is a failure of the target; a host that it cannot reach is its own', async () => {
      await using chain = await startChain()
      const [target] = chain.targets
      assert.ok(target)
      await using pool = makePool({ ...RESTS_LONG, transport })
      // A fleet forwards to loopback alone.
      const prohibited = await rejection(pool.acquire({ ...target, host: '192.0.2.1' }), 'ERR_PROHIBITED')
      assert.deepEqual([prohibited.hop, prohibited.phase], [chain.names[0], 'connect'])
      assert.equal(pool.health({ ...target, host: '192.0.2.1' }).failures, 1)
      chain.hosts[0]?.refuse()
      const refused = await rejection(pool.acquire(target), 'ERR_REFUSED')
      assert.deepEqual([refused.hop, refused.phase, pool.health(target).failures], [undefined, 'connect', 1])
      const unknown = await rejection(pool.acquire({ ...target, host: 'nowhere.invalid' }), 'ERR_DNS')
      assert.equal(unknown.hop, undefined)
    })
  })
