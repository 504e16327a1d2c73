import { once } from 'node:events'
import ssh2 from 'ssh2'
import { createTunnelPool, type Target, type TunnelPool } from '../src/index.ts'
import { fleetElsewhere, median, spreadOver } from './other-process.ts'

/**
 * `npx tsx --expose-gc bench/spine.ts [destinations]`: what the spine costs, side by side in one run, with the fleet in other processes.
 * Cold opens against ssh2's own default connect; acquire + release with one and with many destinations; memory per idle tunnel; closing them all.
 */
const DESTINATIONS = Number(process.argv[2] ?? 10_000)
const say = (text: string) => process.stdout.write(`${text}\n`)

const settleMemory = async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return process.memoryUsage()
}

async function coldByPool(target: Target): Promise<number> {
  await using pool = createTunnelPool()
  const began = performance.now()
  const lease = await pool.acquire(target)
  const millis = performance.now() - began
  lease.release()
  return millis
}

async function coldBySsh2(target: Target): Promise<number> {
  const client = new ssh2.Client()
  const began = performance.now()
  const { key } = target.identity as { key: string }
  client.connect({ host: target.host, port: target.port ?? 22, username: target.user, privateKey: key })
  await once(client, 'ready')
  const millis = performance.now() - began
  client.end()
  await once(client, 'close')
  return millis
}

async function coldOpens(target: Target): Promise<void> {
  const pooled: number[] = []
  const bare: number[] = []
  for (let round = 0; round < 30; round += 1) {
    pooled.push(await coldByPool(target))
    bare.push(await coldBySsh2(target))
  }
  const [ours, theirs] = [median(pooled.slice(5)), median(bare.slice(5))]
  say(`cold open: pool ${ours.toFixed(1)} ms, ssh2's default connect ${theirs.toFixed(1)} ms: ${(ours / theirs).toFixed(2)}×`)
}

async function acquireRelease(pool: TunnelPool, targets: readonly Target[], rounds: number): Promise<number> {
  let index = 0
  const began = performance.now()
  for (let round = 0; round < rounds; round += 1) {
    const lease = await pool.acquire(targets[index] as Target)
    lease.release()
    index = (index + 1) % targets.length
  }
  return (rounds / (performance.now() - began)) * 1_000
}

async function openAll(pool: TunnelPool, targets: readonly Target[]): Promise<void> {
  const began = performance.now()
  const outcomes = await pool.warm(targets)
  const failed = outcomes.filter(({ error }) => error !== undefined)
  if (failed.length > 0) throw new Error(`${failed.length} did not open, first: ${failed[0]?.error?.message}`)
  const seconds = (performance.now() - began) / 1_000
  say(`open ${targets.length}: ${seconds.toFixed(1)} s (${(targets.length / seconds).toFixed(0)}/s)`)
}

await using first = await fleetElsewhere(50)
await using second = await fleetElsewhere(50)
await coldOpens(first.targets[0] as Target)

const targets = spreadOver([...first.targets, ...second.targets], DESTINATIONS)
const pool = createTunnelPool({ idleTimeoutMillis: Number.POSITIVE_INFINITY, verifyAfterMillis: Number.POSITIVE_INFINITY })
const empty = await settleMemory()
await openAll(pool, targets)
const full = await settleMemory()
const per = (name: 'rss' | 'heapUsed') => ((full[name] - empty[name]) / DESTINATIONS / 1_024).toFixed(1)
say(`memory per idle tunnel, all in: ${per('rss')} KiB RSS, ${per('heapUsed')} KiB heap`)

for (const count of [1, DESTINATIONS]) {
  await acquireRelease(pool, targets.slice(0, count), 20_000)
  const measured: number[] = []
  for (let round = 0; round < 3; round += 1) measured.push(await acquireRelease(pool, targets.slice(0, count), 50_000))
  say(`acquire + release over ${count} destination(s): ${Math.round(median(measured))}/s`)
}

const began = performance.now()
await pool.close()
say(
  `close ${DESTINATIONS}: ${((performance.now() - began) / 1_000).toFixed(2)} s, left in the ledger: ${pool.resources().length}`,
)
