import assert from 'node:assert/strict'
import type { Lease } from '../../src/api/lease.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { makePool, random, settling, startHost } from './world.ts'

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)

/** Everything that must hold at any time, between two turns of the loop. */
function assertSums(pool: TunnelPool, opened: ReadonlySet<number>, destinations: number): void {
  const { stats } = pool
  const report = pool.report()
  const by = (state: string) => report.tunnels.filter((tunnel) => tunnel.state === state).length
  assert.deepEqual(stats.tunnels, { opening: by('opening'), open: by('open'), draining: by('draining') })
  assert.equal(stats.opened - stats.closed, opened.size)
  assert.equal(stats.leases, report.leases.length)
  assert.equal(stats.waiting, report.waiting.length)
  assert.equal(sum(stats.destinations), destinations)
  assert.ok(Object.values({ ...stats.tunnels, ...stats.destinations }).every((count) => count >= 0))
}

describe('stats', () => {
  it('add up over a random walk', async () => {
    await using fleet = await startFleet({ hosts: 6 })
    const at = random(7)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(at() * list.length)] as T
    await using pool = makePool({
      backoffMinMillis: 5,
      backoffMaxMillis: 20,
      idleTimeoutMillis: 15,
      drainTimeoutMillis: 20,
      maxTunnels: 10,
      verifyAfterMillis: 5,
      channelTimeoutMillis: 40,
      openTimeoutMillis: 250,
      barredRetryMillis: 10,
    })
    const opened = new Set<number>()
    const used = new Set<string>()
    pool.on('tunnel.opened', ({ generation }) => opened.add(generation))
    pool.on('tunnel.closed', ({ generation }) => opened.delete(generation))
    const held: Lease[] = []
    const asked: Array<ReturnType<typeof settling>> = []
    const { targets, hosts } = fleet
    const steps: Array<() => void> = [
      ...Array.from({ length: 6 }, () => () => {
        const target = pick(targets)
        used.add(String(target.port))
        const ask = pool.acquire(target, {
          timeoutMillis: at() * 80,
          whenResting: pick(['reject', 'wait', 'dial']),
          exclusive: at() < 0.3,
        })
        asked.push(settling(ask.then((lease) => held.push(lease))))
      }),
      ...Array.from(
        { length: 6 },
        () => () => held.splice(Math.floor(at() * held.length), 1)[0]?.release(at() < 0.2 ? new Error('fault') : undefined),
      ),
      () => pick(hosts).sever(),
      () => pick(hosts).refuse(at() < 0.5),
      () => pick(hosts).rejectAuth(at() < 0.5),
      () => pick(hosts).freeze(),
      () => pick(hosts).thaw(),
      () => pick(hosts).thaw(),
      () => pool.reset(pick(targets)),
      () => void pool.retire(pick(targets), { force: at() < 0.5 }).catch(() => {}),
      () => void pool.probe(pick(targets)),
    ]
    // However long that takes on this machine, it has to come through all of it.
    const hasSeenAll = ({ opened, failed, lost } = pool.stats) => opened > 10 && failed > 2 && lost > 2
    for (let step = 0; step < 1_500 || !hasSeenAll(); step += 1) {
      pick(steps)()
      for (let turns = at() * 3; turns > 0; turns -= 1) await new Promise(setImmediate)
      assertSums(pool, opened, used.size)
    }
    for (const host of hosts) host.thaw()
    for (const lease of held.splice(0)) lease.release()
    await until(() => asked.every(({ state }) => state !== 'pending'))
    for (const lease of held.splice(0)) lease.release()
    await pool.close({ timeoutMillis: 0 })
    assertSums(pool, new Set(), 0)
    assert.deepEqual(
      { ...pool.stats.tunnels, leases: pool.stats.leases, waiting: pool.stats.waiting },
      { opening: 0, open: 0, draining: 0, leases: 0, waiting: 0 },
    )
  })

  it('are a copy', async () => {
    await using pool = makePool()
    const { stats } = pool
    Object.assign(stats, { leases: 7 })
    Object.assign(stats.tunnels, { open: 7 })
    assert.equal(pool.stats.leases, 0)
    assert.equal(pool.stats.tunnels.open, 0)
  })
})

describe('settled', () => {
  it('resolves when nothing is opening or draining, at once if nothing is', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    await pool.settled()
    host.freeze()
    const asked = pool.acquire(target)
    const settled = settling(pool.settled())
    await until(() => host.counts.connections === 1)
    assert.equal(settled.state, 'pending')
    host.thaw()
    const lease = await asked
    await until(() => settled.state === 'fulfilled')
    const other = await pool.acquire(target)
    other.release(new Error('fault'))
    const again = settling(pool.settled())
    await new Promise(setImmediate)
    assert.equal(again.state, 'pending')
    lease.release()
    await until(() => again.state === 'fulfilled')
    assert.deepEqual(pool.stats.tunnels, { opening: 0, open: 0, draining: 0 })
  })
})
