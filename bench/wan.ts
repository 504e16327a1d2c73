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
    const warm: number[] = []
    for (let round = 0; round < CHECKS; round += 1) {
      const at = performance.now()
      await get(agent, {})
      warm.push(performance.now() - at)
    }
    const bench = `wan ${roundTrip} ms`
    report({
      bench,
      measure: `${transport}: open; first check on a new channel`,
      value: `${millis(open)} (${(open / roundTrip).toFixed(1)} round trips); ${millis(fresh)} (${(fresh / roundTrip).toFixed(1)})`,
    })
    report({
      bench,
      measure: `${transport}: warm check`,
      value: `median ${millis(median(warm))}`,
      goal: 'one round trip + 2 ms',
      isMet: median(warm) <= roundTrip + 2,
    })
    await pool.close({ timeoutMillis: 0 })
  }
process.exit(0)
