import type { TunnelPool } from '../../api/pool.ts'
import type { PoolFacts } from '../../api/report.ts'

/** Seconds; from a warm round trip to an acquire that waits for a dead host. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Seconds; leases are held from milliseconds to days. */
export const HELD_BUCKETS = [0.01, 0.1, 1, 10, 60, 600, 3_600, 86_400]

/** What is counted as it happens: name, what it says, and the labels it has. No label is a destination: there may be ten thousand. */
export const COUNTERS = {
  tunnels_opened: ['Tunnels opened', ['transport']],
  tunnels_closed: ['Tunnels that were open and have ended', ['forced']],
  tunnels_lost: ['Tunnels lost while open, by cause', ['code']],
  dials_failed: ['Dials that failed, by cause', ['code', 'phase']],
  tunnels_stuck: ['Tunnels of which something would not die', []],
  destinations_barred: ['Destinations barred until reset, by cause', ['code']],
  leases_acquired: ['Leases given out', []],
  leases_abandoned: ['Leases collected as garbage without a release', []],
  forwards_refused: ['Connections that a server refused, by cause', ['code']],
} as const satisfies Record<string, readonly [help: string, labels: readonly string[]]>

/** What is measured in seconds. */
export const HISTOGRAMS = {
  open_seconds: ['From the place to dial to open', ['transport'], BUCKETS],
  open_phase_seconds: ['The phases of an opening', ['phase'], BUCKETS],
  acquire_wait_seconds: ['From acquire to lease', [], BUCKETS],
  lease_held_seconds: ['From lease to release', [], HELD_BUCKETS],
  close_seconds: ['From draining to gone', [], BUCKETS],
} as const satisfies Record<string, readonly [help: string, labels: readonly string[], buckets: readonly number[]]>

export type Labels = Readonly<Record<string, string>>

/** Where measures go. */
export interface Meter {
  count(name: keyof typeof COUNTERS, labels: Labels): void
  measure(name: keyof typeof HISTOGRAMS, seconds: number, labels: Labels): void
}

/** Translates a pool's facts into measures, until the result is called. */
export function measure(pool: TunnelPool, { count, measure: seconds }: Meter): () => void {
  const listeners: { readonly [Name in keyof PoolFacts]?: (fact: PoolFacts[Name]) => void } = {
    'tunnel.opened': ({ transport, openMillis, phases }) => {
      count('tunnels_opened', { transport })
      seconds('open_seconds', openMillis / 1_000, { transport })
      for (const [phase, millis] of Object.entries(phases)) seconds('open_phase_seconds', millis / 1_000, { phase })
    },
    'tunnel.closed': ({ closeMillis, forced }) => {
      count('tunnels_closed', { forced: String(forced) })
      seconds('close_seconds', closeMillis / 1_000, {})
    },
    'tunnel.lost': ({ error }) => count('tunnels_lost', { code: error.code }),
    'tunnel.failed': ({ error }) => count('dials_failed', { code: error.code, phase: error.phase ?? 'unknown' }),
    'tunnel.stuck': () => count('tunnels_stuck', {}),
    'destination.barred': ({ error }) => count('destinations_barred', { code: error.code }),
    'lease.acquired': ({ waitMillis }) => {
      count('leases_acquired', {})
      seconds('acquire_wait_seconds', waitMillis / 1_000, {})
    },
    'lease.released': ({ heldMillis }) => seconds('lease_held_seconds', heldMillis / 1_000, {}),
    'lease.abandoned': () => count('leases_abandoned', {}),
    'forward.refused': ({ error }) => count('forwards_refused', { code: error.code }),
  }
  const names = Object.keys(listeners) as Array<keyof PoolFacts>
  for (const name of names) pool.on(name, listeners[name] as never)
  return () => {
    for (const name of names) pool.off(name, listeners[name] as never)
  }
}

/** What is now: each gauge with its label's values. */
export function gauges(
  pool: TunnelPool,
): Record<string, { help: string; label: string | undefined; values: Record<string, number> }> {
  const { destinations, tunnels, leases, waiting } = pool.stats
  const held: Record<string, number> = {}
  for (const { kind } of pool.resources()) held[kind] = (held[kind] ?? 0) + 1
  return {
    destinations: { help: 'Destinations by state', label: 'state', values: { ...destinations } },
    tunnels: { help: 'Tunnels by state', label: 'state', values: { ...tunnels } },
    leases: { help: 'Leases that are out', label: undefined, values: { '': leases } },
    waiting: { help: 'Acquires that wait', label: undefined, values: { '': waiting } },
    resources: { help: 'What the ledger holds, by kind', label: 'kind', values: held },
  }
}
