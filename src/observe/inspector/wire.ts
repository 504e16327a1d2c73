import type { PoolStats } from '../../api/report.ts'

/** What the page is told, and nothing beside it: ids, states, codes, counts and times (milliseconds since 1970). */
export interface ShownTunnel {
  readonly generation: number
  /** Names from the root, joined by dots: `open.leased`. */
  readonly state: string
  readonly since: number
  readonly leases: number
  readonly reason: string | undefined
  readonly code: string | undefined
}

export interface ShownDestination {
  readonly id: string
  readonly label: string | undefined
  readonly state: string
  readonly since: number
  /** Failed dials in a row. */
  readonly failures: number
  /** Why it rests or is barred. */
  readonly code: string | undefined
  readonly retryAt: number | undefined
  readonly tunnels: readonly ShownTunnel[]
}

/** A move of a machine from state to state. */
export interface ShownStep {
  readonly at: number
  /** `pool`, `destination` or the generation of a tunnel. */
  readonly of: 'pool' | 'destination' | number
  readonly from: string
  readonly to: string
  readonly event: string
}

/** A fact of a destination's past. */
export interface ShownFact {
  readonly at: number
  readonly name: string
  readonly generation: number | undefined
  readonly millis: number | undefined
  readonly phases: Readonly<Record<string, number>> | undefined
  readonly code: string | undefined
  /** Where it failed, and at which jump. */
  readonly phase: string | undefined
  readonly hop: string | undefined
  readonly leases: number | undefined
  readonly reason: string | undefined
}

export interface ShownLease {
  readonly id: string
  readonly generation: number
  readonly label: string | undefined
  readonly since: number
}

export interface ShownResource {
  readonly generation: number
  readonly kind: string
  readonly label: string
  readonly since: number
}

/** All that is known of one destination. */
export interface ShownDetail {
  readonly id: string
  readonly steps: readonly ShownStep[]
  readonly facts: readonly ShownFact[]
  readonly leases: readonly ShownLease[]
  readonly waiting: ReadonlyArray<{ readonly since: number; readonly for: string }>
  readonly resources: readonly ShownResource[]
}

/** One moment of the whole pool. */
export interface Sample {
  readonly at: number
  readonly opening: number
  readonly open: number
  readonly draining: number
  readonly leases: number
  /** Lost and failed since the sample before. */
  readonly lost: number
  readonly failed: number
}

export interface ShownPool {
  readonly at: number
  readonly state: string
  readonly steps: readonly ShownStep[]
  readonly stats: PoolStats
}
