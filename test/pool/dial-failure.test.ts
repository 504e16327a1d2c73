import assert from 'node:assert/strict'
import type { TunnelErrorCode } from '../../src/errors.ts'
import type { FleetHost } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { makePool, rejection, startHost } from './world.ts'

const failures: Array<
  [what: string, code: TunnelErrorCode, phase: string, begin: (host: FleetHost) => void, end: (host: FleetHost) => void]
> = [
  ['a refused connect', 'ERR_REFUSED', 'connect', (host) => host.refuse(), (host) => host.refuse(false)],
  ['a refused login', 'ERR_AUTH', 'auth', (host) => host.rejectAuth(), (host) => host.rejectAuth(false)],
  ['a frozen host', 'ERR_OPEN_TIMEOUT', 'banner', (host) => host.freeze(), (host) => host.thaw()],
]

describe('acquire: a dial that fails', () => {
  for (const [what, code, phase, begin, end] of failures) {
    it(`tells all 100 who wait of ${what}, and the next acquire after the back-off dials again`, async () => {
      await using site = await startHost()
      const { host, target } = site
      await using pool = makePool({ openTimeoutMillis: 150, backoffMinMillis: 20, backoffMaxMillis: 20 })
      begin(host)
      const errors = await Promise.all(Array.from({ length: 100 }, () => rejection(pool.acquire(target), code)))
      assert.deepEqual([...new Set(errors.map((error) => error.phase))], [phase])
      assert.equal(pool.stats.failed, 1)
      assert.ok(host.counts.connections <= 1)
      await until(() => pool.health(target).state === 'dormant')
      // Not remembered: it fails anew, by a dial of its own.
      await rejection(pool.acquire(target), code)
      assert.equal(pool.stats.failed, 2)
      end(host)
      await until(() => pool.health(target).state === 'dormant')
      const lease = await pool.acquire(target)
      assert.equal(lease.generation, 3)
      assert.equal(pool.health(target).cause, undefined)
      lease.release()
    })
  }

  it('tells of a changed host key, and bars', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    host.rotateHostKey()
    const errors = await Promise.all(Array.from({ length: 10 }, () => rejection(pool.acquire(target), 'ERR_HOST_KEY')))
    assert.equal(errors[0]?.retryable, false)
    assert.equal(host.counts.connections, 1)
    assert.equal(pool.health(target).state, 'barred')
    const shut = await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN')
    assert.equal(shut.cause, errors[0])
    assert.equal(shut.retryable, false)
    assert.equal(host.counts.connections, 1)
  })
})
