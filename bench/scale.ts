import { once } from 'node:events'
import { connect } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import ssh2 from 'ssh2'
import { createHealthMonitor, createTunnelPool, type Target } from '../src/index.ts'
import { median, millis, ownCpu, progress, quantile, report, settledMemory, times } from './measure.ts'
import { fleetElsewhere, spreadOver } from './other-process.ts'

/**
 * `npx tsx --expose-gc bench/scale.ts [destinations] [seconds of checks] [bare]`: so many destinations in fleets of other processes: time to all up,
 * loop delay meanwhile, memory per tunnel, checks every 4 s (CPU, lateness, overlap, spread, memory slope), close. With `bare` the same hosts are
 * opened by raw ssh2, for the ratio and for what the transport itself takes.
 */
const DESTINATIONS = Number(process.argv[2] ?? 1_000)
const SECONDS = Number(process.argv[3] ?? 12)
const MODE = process.argv[4] ?? 'pool'
const AT_ONCE = 8
const WARM_UP = 20
const bench = `scale ${DESTINATIONS}`

await using first = await fleetElsewhere(50)
await using second = await fleetElsewhere(50)
const hosts = [...first.targets, ...second.targets]
const kib = (bytes: number) => bytes / DESTINATIONS / 1_024

async function byRawSsh2(): Promise<void> {
  const clients: ssh2.Client[] = []
  let next = 0
  let last = WARM_UP
  const worker = async () => {
    for (let index = next++; index < last; index = next++) {
      const target = hosts[index % hosts.length] as Target
      const client = new ssh2.Client().on('error', () => {})
      const sock = connect({ host: target.host, port: target.port ?? 22, noDelay: true })
      const { key } = target.identity as { key: string }
      client.connect({ sock, username: target.user, privateKey: key, algorithms: { cipher: ['aes128-gcm@openssh.com'] } })
      await once(client, 'ready')
      clients.push(client)
    }
  }
  const openAll = () => Promise.all(Array.from({ length: AT_ONCE }, worker))
  await openAll()
  const before = await settledMemory()
  const began = performance.now()
  next = WARM_UP
  last = WARM_UP + DESTINATIONS
  await openAll()
  const seconds = (performance.now() - began) / 1_000
  const after = await settledMemory()
  process.stdout.write(
    `${JSON.stringify({ seconds, heap: kib(after.heapUsed - before.heapUsed), rss: kib(after.rss - before.rss) })}\n`,
  )
  for (const client of clients) client.destroy()
}

async function byPool(bare: { seconds: number; heap: number; rss: number } | undefined): Promise<void> {
  const targets = spreadOver(hosts, DESTINATIONS)
  const pool = createTunnelPool({
    idleTimeoutMillis: Number.POSITIVE_INFINITY,
    maxTunnels: DESTINATIONS + WARM_UP,
    openTimeoutMillis: 60_000,
    acquireTimeoutMillis: 300_000,
  })
  // What is loaded on first use is not counted to the tunnels.
  await pool.warm(spreadOver(hosts, WARM_UP).map((target) => ({ ...target, hostKeyAlias: `warm-${target.hostKeyAlias}` })))
  const before = await settledMemory()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  progress(`${bench}: opening`)
  const began = performance.now()
  const failed = (await pool.warm(targets)).filter(({ error }) => error !== undefined)
  const seconds = (performance.now() - began) / 1_000
  delay.disable()
  if (failed.length > 0) throw new Error(`${failed.length} did not open: ${failed[0]?.error?.message}`)
  const p99 = delay.percentile(99) / 1e6
  report({
    bench,
    measure: 'all up',
    value: `${seconds.toFixed(1)} s (${(DESTINATIONS / seconds).toFixed(0)}/s)`,
    ...(bare && { ratio: `${times(seconds / bare.seconds)} of a bare ssh2 loop` }),
  })
  report({
    bench,
    measure: 'loop delay while opening',
    value: `p99 ${millis(p99)}, most ${millis(delay.max / 1e6)}`,
    ...(DESTINATIONS === 1_000 && { goal: 'p99 < 50 ms', isMet: p99 < 50 }),
  })
  const after = await settledMemory()
  const [heap, rss] = [kib(after.heapUsed - before.heapUsed), kib(after.rss - before.rss)]
  const beyond = bare && heap - bare.heap
  report({
    bench,
    measure: 'memory per idle tunnel',
    value: `${heap.toFixed(1)} KiB heap, ${rss.toFixed(1)} KiB RSS`,
    ...(bare &&
      beyond !== undefined && {
        ratio: `${beyond.toFixed(1)} KiB heap beyond raw ssh2`,
        goal: '≤ 20 KB',
        isMet: beyond <= 20_000 / 1_024,
      }),
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  if (SECONDS > 0) await checks(pool, targets)
  const closing = performance.now()
  await pool.close()
  report({
    bench,
    measure: 'close',
    value: `${((performance.now() - closing) / 1_000).toFixed(2)} s, left in the ledger: ${pool.resources().length}`,
  })
}

async function checks(pool: ReturnType<typeof createTunnelPool>, targets: readonly Target[]): Promise<void> {
  progress(`${bench}: checks every 4 s for ${SECONDS} s`)
  const late: number[] = []
  const latency: number[] = []
  const perTenth = new Map<number, number>()
  let failed = 0
  const monitor = createHealthMonitor(pool, {
    checks: targets.map((target, index) => ({
      id: `${index}`,
      target,
      to: { port: 80 },
      path: '/health',
      intervalMillis: 4_000,
    })),
  })
  // The first round opens the channels that the others go through.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const memory = await settledMemory()
  // The collector has made some late, and the bench is not to be measured.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpu = ownCpu()
  const began = performance.now()
  monitor.on('check', ({ ok, lateMillis, latencyMillis }) => {
    if (!ok) failed += 1
    late.push(lateMillis)
    latency.push(latencyMillis ?? Number.NaN)
    const tenth = Math.floor((performance.now() - began) / 100)
    perTenth.set(tenth, (perTenth.get(tenth) ?? 0) + 1)
  })
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000))
  const used = ownCpu() - cpu
  delay.disable()
  const seconds = (performance.now() - began) / 1_000
  const slope = kib((await settledMemory()).heapUsed - memory.heapUsed) / (seconds / 60)
  await monitor.stop()
  const worst = late.reduce((most, each) => Math.max(most, each), 0)
  const counts = [...perTenth.values()]
  const each = used / late.length
  report({
    bench,
    measure: 'checks every 4 s',
    value: `${late.length} in ${seconds.toFixed(0)} s, ${failed} failed, late ${millis(quantile(late, 0.99))} p99 and ${millis(worst)} at most, latency ${millis(median(latency))} median`,
    goal: 'none late by 1 s',
    isMet: worst < 1_000 && failed === 0,
  })
  report({
    bench,
    measure: 'CPU per check on that schedule',
    value: `${millis(each)} (${((used / seconds / 1_000) * 100).toFixed(1)} % of a core), loop delay p99 ${millis(delay.percentile(99) / 1e6)}`,
    ...(DESTINATIONS >= 1_000 && { goal: '≤ 0.3 ms', isMet: each <= 0.3 }),
  })
  report({
    bench,
    measure: 'spread and growth',
    value: `${median(counts)} checks per 100 ms, ${Math.max(...counts)} at most; heap ${slope >= 0 ? '+' : ''}${slope.toFixed(2)} KiB per tunnel and minute`,
  })
}

if (MODE === 'bare') await byRawSsh2()
else {
  const { execFileSync } = await import('node:child_process')
  progress(`${bench}: the same by raw ssh2, in a process of its own`)
  const words = [...process.execArgv, 'bench/scale.ts', `${DESTINATIONS}`, '0', 'bare']
  const bare =
    DESTINATIONS > 2_000
      ? undefined
      : JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }))
  await byPool(bare)
}
process.exit(0)
