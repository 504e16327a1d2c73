import assert from 'node:assert/strict'
import type { CheckFact, HealthMonitor } from '../../src/api/monitor.ts'
import { createHealthMonitor } from '../../src/index.ts'
import type { FleetHost } from '../../src/testing/contract.ts'
import { startFleet } from '../../src/testing/index.ts'
import { held } from '../http/world.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'

/** All facts of a monitor by check. */
function facts(monitor: HealthMonitor): (id: string) => CheckFact[] {
  const told = new Map<string, CheckFact[]>()
  monitor.on('check', (fact) => told.set(fact.id, [...(told.get(fact.id) ?? []), fact]))
  return (id) => told.get(id) ?? []
}
const last = (told: CheckFact[]) => told.at(-1)

describe('createHealthMonitor', () => {
  let origin: Origin
  before(async () => {
    origin = await startOrigin()
  })
  after(() => origin.close())

  it('checks an HTTP path over one kept channel, by a function, by a connect and by a round trip', async () => {
    await using fleet = await startFleet({ hosts: 4 })
    const [a, b, c, d] = fleet.hosts as [FleetHost, FleetHost, FleetHost, FleetHost]
    await using pool = startPool()
    let called = 0
    await using monitor = createHealthMonitor(pool, {
      checks: [
        { id: 'http', target: a.target, to: a.http, path: '/health', intervalMillis: 20, timeoutMillis: 5_000 },
        {
          id: 'own',
          target: b.target,
          intervalMillis: 20,
          timeoutMillis: 5_000,
          check: async (lease, signal) => {
            assert.ok(!signal.aborted && lease.generation > 0)
            called += 1
          },
        },
        { id: 'connect', target: c.target, to: c.http, intervalMillis: 20, timeoutMillis: 5_000 },
        { id: 'ssh', target: d.target, intervalMillis: 20, timeoutMillis: 5_000 },
      ],
    })
    const of = facts(monitor)
    assert.equal(monitor.state('http'), undefined)
    assert.deepEqual({ ...monitor.stats, lagMillis: 0 }, { checks: 4, healthy: 0, unhealthy: 0, unknown: 4, lagMillis: 0 })
    for (const id of ['http', 'own', 'connect', 'ssh']) {
      await until(() => of(id).length >= 3, { what: id })
      for (const fact of of(id)) {
        assert.deepEqual(
          { ...fact, latencyMillis: 0, lateMillis: 0 },
          { id, ok: true, tunnel: 'ok', target: 'ok', latencyMillis: 0, lateMillis: 0, error: undefined },
        )
        assert.ok((fact.latencyMillis ?? -1) > 0 && fact.lateMillis >= 0)
      }
      const { healthy, since, lastVerifiedAt } = monitor.state(id) ?? assert.fail('no state')
      assert.ok(healthy && since <= lastVerifiedAt && Date.now() - lastVerifiedAt.getTime() < 5_000)
    }
    assert.ok(called >= 3)
    assert.equal(a.counts.channels, 1)
    assert.equal(d.counts.channels, 0)
    assert.equal(monitor.stats.healthy, 4)
    await monitor.stop()
    assert.equal(pool.stats.leases, 0)
    await until(() => held(pool).channels === 0)
  })

  it('tells the health of the tunnel from that of the target', async () => {
    await using fleet = await startFleet({ hosts: 6 })
    const [refused, bad, silent, gone, frozen, lost] = fleet.hosts as FleetHost[] as [
      FleetHost,
      FleetHost,
      FleetHost,
      FleetHost,
      FleetHost,
      FleetHost,
    ]
    await using pool = startPool({ keepAliveIntervalMillis: 0 })
    await pool.warm(fleet.targets)
    gone.sever()
    gone.refuse()
    const to = { port: origin.port }
    const each = { intervalMillis: 60, timeoutMillis: 50 }
    await using monitor = createHealthMonitor(pool, {
      checks: [
        { id: 'refused', target: refused.target, to: { port: 1 }, path: '/', ...each, timeoutMillis: 1_000 },
        { id: 'bad', target: bad.target, to, path: '/status/503', ...each, timeoutMillis: 1_000 },
        { id: 'silent', target: silent.target, to, path: '/hang', ...each },
        { id: 'gone', target: gone.target, to, path: '/health', ...each },
        { id: 'frozen', target: frozen.target, to: frozen.http, path: '/health', ...each },
        { id: 'lost', target: lost.target, to, path: '/hang', intervalMillis: 60, timeoutMillis: 4_000 },
      ],
    })
    const of = facts(monitor)
    const turned: string[] = []
    monitor.on('unhealthy', ({ id }) => turned.push(id))
    const judged = (id: string) => [last(of(id))?.tunnel, last(of(id))?.target]
    await until(() => of('refused').length > 0 && of('bad').length > 0 && of('gone').length > 0)
    assert.deepEqual(judged('refused'), ['ok', 'refused'])
    assert.deepEqual(judged('bad'), ['ok', 'unhealthy'])
    assert.match(String(last(of('bad'))?.error), /HTTP 503/)
    assert.deepEqual(judged('gone'), ['down', 'unknown'])
    await until(() => last(of('silent'))?.target === 'unhealthy', { within: 8_000 })
    assert.deepEqual(judged('silent'), ['ok', 'unhealthy'])
    await until(() => last(of('frozen'))?.ok === true, { within: 8_000 })
    frozen.freeze()
    await until(() => last(of('frozen'))?.ok === false, { within: 8_000 })
    assert.deepEqual(judged('frozen'), ['down', 'unknown'])
    frozen.thaw()
    await until(() => lost.counts.openChannels === 1)
    lost.sever()
    await until(() => of('lost').length === 1)
    assert.deepEqual(judged('lost'), ['down', 'unknown'])
    await until(() => ['refused', 'bad', 'gone'].every((id) => turned.includes(id)))
    assert.equal(monitor.state('gone')?.healthy, false)
  })

  it('turns after so many in a row, and back', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    let ok = true
    const check = async () => {
      if (!ok) throw new Error('not well')
    }
    await using monitor = createHealthMonitor(pool, {
      checks: [
        { id: 'a', target: host.target, check, intervalMillis: 10, timeoutMillis: 5_000, healthyAfter: 2, unhealthyAfter: 4 },
      ],
    })
    const told: string[] = []
    monitor.on('check', (fact) => told.push(fact.ok ? '+' : '-'))
    monitor.on('healthy', () => told.push('H'))
    monitor.on('unhealthy', (fact) => told.push(`U(${fact.error?.message})`))
    await until(() => told.includes('H'))
    ok = false
    await until(() => told.some((word) => word.startsWith('U')))
    ok = true
    await until(() => told.filter((word) => word === 'H').length === 2)
    assert.match(told.join(''), /^\+\+H\+*----U\(not well\)-*\+\+H/)
  })

  it('adds and removes while running; stops without another fact, and with the pool', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [a, b] = fleet.hosts as [FleetHost, FleetHost]
    const pool = startPool()
    const monitor = createHealthMonitor(pool)
    const of = facts(monitor)
    monitor.add({ id: 'a', target: a.target, to: a.http, path: '/health', intervalMillis: 10, timeoutMillis: 5_000 })
    monitor.add({
      id: 'hanging',
      target: b.target,
      to: { port: origin.port },
      path: '/hang',
      intervalMillis: 10,
      timeoutMillis: 5_000,
    })
    assert.throws(() => monitor.add({ id: 'a', target: a.target }), { code: 'ERR_INVALID_OPTION' })
    await until(() => of('a').length > 2 && b.counts.openChannels === 1)
    monitor.remove('hanging')
    monitor.remove('nobody')
    await until(() => b.counts.openChannels === 0)
    assert.equal(of('hanging').length, 0)
    assert.equal(monitor.stats.checks, 1)
    monitor.remove('a')
    assert.deepEqual({ ...monitor.stats, lagMillis: 0 }, { checks: 0, healthy: 0, unhealthy: 0, unknown: 0, lagMillis: 0 })
    await until(() => pool.stats.leases === 0 && held(pool).channels === 0)
    monitor.add({ id: 'a', target: a.target, intervalMillis: 10, timeoutMillis: 5_000 })
    const before = of('a').length
    await until(() => of('a').length > before)
    await pool.close()
    await until(() => monitor.stats.checks === 0)
    assert.throws(() => monitor.add({ id: 'c', target: a.target }), { code: 'ERR_POOL_CLOSED' })
  })

  it('refuses what it does not know, by name', async () => {
    await using fleet = await startFleet()
    const [target] = fleet.targets
    assert.ok(target)
    const pool = startPool()
    const wrong: Array<[object, RegExp]> = [
      [{ target }, /`id`/],
      [{ id: 'a', target: { host: 'x' } }, /user|identity/],
      [{ id: 'a', target, path: '/x' }, /`to`/],
      [{ id: 'a', target, to: { port: 1 }, path: 'x' }, /`path`/],
      [{ id: 'a', target, to: { prot: 1 } }, /port/],
      [{ id: 'a', target, interval: 1 }, /did you mean `intervalMillis`/],
      [{ id: 'a', target, intervalMillis: 0 }, /`intervalMillis`/],
      [{ id: 'a', target, unhealthyAfter: 0 }, /`unhealthyAfter`/],
      [{ id: 'a', target, check: 1 }, /`check`/],
    ]
    for (const [check, message] of wrong)
      assert.throws(() => createHealthMonitor(pool, { checks: [check as never] }), { code: 'ERR_INVALID_OPTION', message })
    assert.throws(() => createHealthMonitor(pool, { maxConcurrent: 0 }), { code: 'ERR_INVALID_OPTION' })
  })
})
