import { readFileSync } from 'node:fs'
import { startSshd } from '../test/support/sshd.ts'
import { cpuOf, median, millis, ownCpu, progress, quantile, report, times } from './measure.ts'
import { originElsewhere } from './other-process.ts'
import { byPool, byTunnelSsh, direct, ssh2ByHand, ssh2PerCheck, sshByHand, sshPerCheck, type Way } from './ways.ts'

/**
 * `npx tsx bench/checks.ts [seconds per way]`: HTTP health checks one after the other, each way beside the others, sshd and the HTTP server in other
 * processes. CPU is that of the whole client side: this process, children that have ended, and those that go on.
 */
const SECONDS = Number(process.argv[2] ?? 4)
const ROUNDS = 4

interface Outcome {
  readonly taken: number[]
  seconds: number
  cpu: number
}

async function spell(way: Way, seconds: number, into: Outcome): Promise<void> {
  const cpu = () => ownCpu() + way.pids.reduce((sum, pid) => sum + cpuOf(pid), 0)
  const before = cpu()
  const began = performance.now()
  const end = began + seconds * 1_000
  for (let now = began; now < end; ) {
    await way.check()
    const done = performance.now()
    into.taken.push(done - now)
    now = done
  }
  into.seconds += (performance.now() - began) / 1_000
  into.cpu += cpu() - before
}

await using sshd = await startSshd({ config: { MaxStartups: '100' } })
await using origin = await originElsewhere()
const key = readFileSync(sshd.keyPath, 'utf8')
const { port } = origin
const makers: Record<string, () => Promise<Way>> = {
  'one ssh per check': () => sshPerCheck(sshd, port),
  'ssh2 connect per check': () => ssh2PerCheck(sshd, port, key),
  'ssh -L by hand, kept': () => sshByHand(sshd, port),
  'pool, openssh': () => byPool(sshd, port, 'openssh'),
  'tunnel-ssh, kept': () => byTunnelSsh(sshd, port, key),
  'ssh2 channel by hand, kept': () => ssh2ByHand(sshd, port, key),
  'pool, ssh2': () => byPool(sshd, port, 'ssh2'),
  'direct, no SSH': () => direct(port),
}
const outcomes = new Map<string, Outcome>()
const ways = new Map<string, Way>()
for (const [name, make] of Object.entries(makers)) {
  try {
    ways.set(name, await make())
  } catch (error) {
    progress(`${name}: left out: ${String(error)}`)
  }
}
for (const [name, way] of ways) {
  await spell(way, 0.3, { taken: [], seconds: 0, cpu: 0 })
  outcomes.set(name, { taken: [], seconds: 0, cpu: 0 })
}
// In turns, so that what else the machine does is shared by all.
for (let round = 1; round <= ROUNDS; round += 1)
  for (const [name, way] of ways) {
    progress(`checks, round ${round} of ${ROUNDS}: ${name}`)
    await spell(way, SECONDS / ROUNDS, outcomes.get(name) as Outcome)
  }
for (const way of ways.values()) await way[Symbol.asyncDispose]()

const rate = ({ taken, seconds }: Outcome) => taken.length / seconds
const cpuEach = ({ taken, cpu }: Outcome) => cpu / taken.length
const base = outcomes.get('one ssh per check') as Outcome
const GOALS: Record<string, { rate: number; cpu: number }> = {
  'pool, ssh2': { rate: 720, cpu: 950 },
  'pool, openssh': { rate: 780, cpu: 620 },
}
for (const [name, outcome] of outcomes) {
  const faster = rate(outcome) / rate(base)
  const cheaper = cpuEach(base) / cpuEach(outcome)
  const goal = GOALS[name]
  report({
    bench: 'checks',
    measure: name,
    value: `${rate(outcome).toFixed(0)}/s, median ${millis(median(outcome.taken))}, p99 ${millis(quantile(outcome.taken, 0.99))}, CPU ${millis(cpuEach(outcome))} each`,
    ratio: `${times(faster)} checks/s, 1/${Math.round(cheaper)} CPU of one ssh per check`,
    ...(goal && { goal: `≥ ${goal.rate}×, ≤ 1/${goal.cpu}`, isMet: faster >= goal.rate && cheaper >= goal.cpu }),
    chart: { perSecond: rate(outcome), cpuMillis: cpuEach(outcome) },
  })
}
for (const [ours, bare] of [
  ['pool, ssh2', 'ssh2 channel by hand, kept'],
  ['pool, openssh', 'ssh -L by hand, kept'],
] as const) {
  const [a, b] = [outcomes.get(ours), outcomes.get(bare)]
  if (a === undefined || b === undefined) continue
  const ratio = median(a.taken) / median(b.taken)
  report({
    bench: 'checks',
    measure: `latency of ${ours} against ${bare}`,
    value: `${millis(median(a.taken))} against ${millis(median(b.taken))}`,
    ratio: `${ratio.toFixed(3)}×`,
    goal: '≤ 1.05×',
    isMet: ratio <= 1.05,
  })
}
process.exit(0)
