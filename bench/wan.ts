import { Agent } from 'node:http'
import { createTunnelPool } from '../src/index.ts'
import { Relay } from '../test/support/relay.ts'
import { startSshd } from '../test/support/sshd.ts'
import { median, millis, progress, report } from './measure.ts'
import { originElsewhere } from './other-process.ts'
import { get } from './ways.ts'

/** `npx tsx bench/wan.ts [checks]`: opens and warm checks behind round trips of 20 and 100 ms (a relay that delays each way by half). */
const CHECKS = Number(process.argv[2] ?? 40)

await using sshd = await startSshd()
await using origin = await originElsewhere()
await using relay = await Relay.start({ port: sshd.port })
await using plainly = await Relay.start({ port: origin.port })

async function times(count: number, once: () => Promise<void>): Promise<number> {
  const taken: number[] = []
  for (let round = 0; round < count; round += 1) {
    const at = performance.now()
    await once()
    taken.push(performance.now() - at)
  }
  return median(taken)
}

for (const roundTrip of [20, 100])
  for (const transport of ['ssh2', 'openssh'] as const) {
    progress(`wan: ${transport} behind ${roundTrip} ms`)
    relay.delay(roundTrip / 2)
    const pool = createTunnelPool({ transport })
    const target = relay.through({ ...sshd.target, hostKey: { pinned: sshd.hostKeyLine } })
    const began = performance.now()
    ;(await pool.acquire(target)).release()
    const open = performance.now() - began
    const agent = pool.agentFor(target, { port: origin.port })
    const first = performance.now()
    await get(agent, {})
    const fresh = performance.now() - first
    const warm = await times(CHECKS, () => get(agent, {}))
    // The relay's timers are late, too: a round trip is what HTTP without SSH takes through one like it.
    plainly.delay(roundTrip / 2)
    const kept = new Agent({ keepAlive: true })
    await get(kept, { port: plainly.port })
    const bare = await times(CHECKS, () => get(kept, { port: plainly.port }))
    kept.destroy()
    const bench = `wan ${roundTrip} ms`
    report({
      bench,
      measure: `${transport}: open; first check on a new channel`,
      value: `${millis(open)} (${(open / roundTrip).toFixed(1)} round trips); ${millis(fresh)} (${(fresh / roundTrip).toFixed(1)})`,
    })
    report({
      bench,
      measure: `${transport}: warm check`,
      value: `median ${millis(warm)}`,
      ratio: `${millis(bare)} without SSH through such a relay`,
      goal: 'one round trip + 2 ms',
      isMet: warm <= bare + 2,
    })
    await pool.close({ timeoutMillis: 0 })
  }
process.exit(0)
