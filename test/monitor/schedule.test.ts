import assert from 'node:assert/strict'
import { createHealthMonitor } from '../../src/index.ts'
import type { FleetHost } from '../../src/testing/contract.ts'
import { startFleet } from '../../src/testing/index.ts'
import { typescript } from '../support/child.ts'
import { startPool } from '../support/pool.ts'
import { run } from '../support/run.ts'
import { until } from '../support/until.ts'

const block = (millis: number): void => {
  const end = performance.now() + millis
  while (performance.now() < end);
}

describe('the health monitor and time', () => {
  it('spreads the checks evenly over their interval', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    const begun: Array<[number, number]> = []
    const start = performance.now()
    const checks = Array.from({ length: 100 }, (_, index) => ({
      id: `${index}`,
      target: { ...host.target, hostKeyAlias: `h-${index % 5}` },
      check: async () => void begun.push([index, performance.now() - start]),
      intervalMillis: 1_000,
    }))
    await pool.warm(checks.slice(0, 5).map(({ target }) => target))
    await using monitor = createHealthMonitor(pool, { checks })
    await until(() => begun.length >= 250, { within: 8_000 })
    const perTenth = new Map<number, number>()
    for (const [, at] of begun.slice(100, 200)) {
      const tenth = Math.floor(at / 100)
      perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1)
    }
    // 10 each; a loaded machine moves some to the next.
    assert.ok(Math.max(...perTenth.values()) <= 40, `${[...perTenth.values()]}`)
    assert.equal(new Set(begun.slice(0, 130).map(([index]) => index)).size, 100)
    assert.equal(monitor.stats.checks, 100)
  })

  it('never has two of one target at once, nor two runs of one check', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    let now = 0
    let most = 0
    let runs = 0
    const check = async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise((resolve) => setTimeout(resolve, 15))
      now -= 1
      runs += 1
    }
    const checks = ['a', 'b', 'c'].map((id) => ({
      id,
      target: { ...host.target },
      check,
      intervalMillis: 10,
      timeoutMillis: 5_000,
    }))
    await using monitor = createHealthMonitor(pool, { checks })
    await until(() => runs >= 12)
    assert.equal(most, 1)
    monitor.remove('a')
    const since = runs
    await until(() => runs >= since + 6)
  })

  it('keeps those that are well on time, however many are silent', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [well, silent] = fleet.hosts as [FleetHost, FleetHost]
    await using pool = startPool()
    const slow = Array.from({ length: 40 }, (_, index) => ({
      id: `slow-${index}`,
      target: { ...silent.target, hostKeyAlias: `s-${index}` },
      check: () => new Promise<void>(() => {}),
      intervalMillis: 400,
      timeoutMillis: 400,
    }))
    const good = Array.from({ length: 10 }, (_, index) => ({
      id: `good-${index}`,
      target: { ...well.target, hostKeyAlias: `g-${index}` },
      check: async () => {},
      intervalMillis: 50,
      timeoutMillis: 5_000,
    }))
    const targets = [...slow, ...good].map(({ target }) => target)
    await pool.warm(targets)
    await using monitor = createHealthMonitor(pool, { checks: [...good, ...slow], maxConcurrent: 8 })
    const late: number[] = []
    await until(() => monitor.stats.healthy === 10)
    monitor.on('check', ({ id, lateMillis }) => {
      if (id.startsWith('good')) late.push(lateMillis)
    })
    await until(() => late.length >= 100, { within: 8_000 })
    late.sort((a, b) => a - b)
    // With the silent ones in every place it would be most of 400 ms.
    assert.ok((late[50] ?? 0) < 150, `median lateness ${late[50]} ms`)
  })

  it('makes no burst after the process was stopped for a while, and tells its own lag', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts as [FleetHost]
    await using pool = startPool()
    const begun: number[] = []
    const checks = Array.from({ length: 60 }, (_, index) => ({
      id: `${index}`,
      target: { ...host.target, hostKeyAlias: `h-${index % 3}` },
      check: async () => void begun.push(performance.now()),
      intervalMillis: 3_000,
    }))
    await pool.warm(checks.slice(0, 3).map(({ target }) => target))
    await using monitor = createHealthMonitor(pool, { checks })
    await until(() => begun.length >= 3)
    block(2_500)
    assert.ok(monitor.stats.lagMillis > 1_000)
    const woke = performance.now()
    await until(() => performance.now() - woke > 300)
    // 50 fell due meanwhile; 20 of them within the last second, which are made up for.
    const burst = begun.filter((at) => at > woke).length
    assert.ok(burst <= 35, `${burst} at once`)
  })

  it('holds the process until it is stopped, unless it is unref’ed', async () => {
    const script = (how: string) => [
      ...typescript,
      '--input-type=module',
      '-e',
      `
      import { createHealthMonitor, createTunnelPool } from './src/index.ts'
      const pool = createTunnelPool()
      const target = { host: '127.0.0.1', port: 1, user: 'x', identity: { password: 'x' }, hostKey: 'insecure-accept-any' }
      const monitor = createHealthMonitor(pool, { checks: [{ id: 'a', target, intervalMillis: 60_000 }, { id: 'b', target, intervalMillis: 60_000 }] })
      ${how}`,
    ]
    const free = await run(process.execPath, script('monitor.unref()'))
    assert.equal(free.code, 0)
    const stopped = await run(
      process.execPath,
      script('await new Promise((resolve) => monitor.on("check", resolve)); await monitor.stop()'),
    )
    assert.equal(stopped.code, 0)
  })
})
