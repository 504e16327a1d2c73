import { createPool } from 'generic-pool'
import { Pool as Tarn } from 'tarn'
import { createTunnelPool } from '../src/index.ts'
import { median, progress, report } from './measure.ts'
import { fleetElsewhere, spreadOver } from './other-process.ts'

/** `npx tsx bench/acquire.ts [destinations]`: acquire + release on open tunnels, with one and with many destinations, beside tarn and generic-pool. */
const DESTINATIONS = Number(process.argv[2] ?? 1_000)
const ROUNDS = 40_000

async function rate(once: (round: number) => Promise<void>): Promise<number> {
  const measured: number[] = []
  for (let turn = 0; turn < 4; turn += 1) {
    const began = performance.now()
    for (let round = 0; round < ROUNDS; round += 1) await once(round)
    measured.push((ROUNDS / (performance.now() - began)) * 1_000)
  }
  return median(measured.slice(1))
}

await using fleet = await fleetElsewhere(50)
const targets = spreadOver(fleet.targets, DESTINATIONS)
const pool = createTunnelPool({
  idleTimeoutMillis: Number.POSITIVE_INFINITY,
  verifyAfterMillis: Number.POSITIVE_INFINITY,
  openTimeoutMillis: 60_000,
  acquireTimeoutMillis: 300_000,
})
progress(`opening ${DESTINATIONS}`)
const failed = (await pool.warm(targets)).filter(({ error }) => error !== undefined)
if (failed.length > 0) throw new Error(`${failed.length} did not open: ${failed[0]?.error?.message}`)
const tarn = new Tarn({ create: async () => ({}), destroy: () => {}, min: 1, max: 10 })
const generic = createPool({ create: async () => ({}), destroy: async () => {} }, { min: 1, max: 10 })
const rates = {
  tarn: await rate(async () => void tarn.release(await tarn.acquire().promise)),
  generic: await rate(async () => void (await generic.release(await generic.acquire()))),
  one: 0,
  many: 0,
}
for (const [name, count] of [
  ['one', 1],
  ['many', DESTINATIONS],
] as const) {
  progress(`acquire + release over ${count}`)
  rates[name] = await rate(async (round) => (await pool.acquire(targets[round % count] as (typeof targets)[number])).release())
  report({
    bench: 'acquire',
    measure: `acquire + release, ${count} destination(s)`,
    value: `${Math.round(rates[name])}/s`,
    ratio: `${(rates[name] / rates.tarn).toFixed(2)}× tarn, ${(rates[name] / rates.generic).toFixed(2)}× generic-pool`,
    goal: '≥ 50000/s',
    isMet: rates[name] >= 50_000,
  })
}
report({ bench: 'acquire', measure: 'tarn; generic-pool', value: `${Math.round(rates.tarn)}/s; ${Math.round(rates.generic)}/s` })
const began = performance.now()
await pool.close()
const seconds = (performance.now() - began) / 1_000
report({
  bench: 'acquire',
  measure: `close of ${DESTINATIONS} tunnels`,
  value: `${seconds.toFixed(2)} s, left in the ledger: ${pool.resources().length}`,
  ...(DESTINATIONS === 1_000 && { goal: '< 2 s', isMet: seconds < 2 && pool.resources().length === 0 }),
})
process.exit(0)
