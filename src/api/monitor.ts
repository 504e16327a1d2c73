import type { Remote } from './forward.ts'
import type { Lease } from './lease.ts'
import type { Target } from './target.ts'

/** One thing to be checked again and again. */
export interface HealthCheck {
  /** Unique in the monitor. */
  id: string
  target: Target
  to?: Remote | undefined
  /** HTTP path (2xx and 3xx are healthy), or a function that throws when unhealthy. Neither: the SSH round trip alone. */
  path?: string | undefined
  check?: ((lease: Lease, signal: AbortSignal) => Promise<void>) | undefined
  /** 4_000 */
  intervalMillis?: number | undefined
  /** The smaller of interval and 3_000. */
  timeoutMillis?: number | undefined
  /** 1 and 3 in a row. */
  healthyAfter?: number | undefined
  unhealthyAfter?: number | undefined
}

/** What one check found. */
export interface CheckFact {
  readonly id: string
  readonly ok: boolean
  readonly tunnel: 'ok' | 'down'
  readonly target: 'ok' | 'refused' | 'unhealthy' | 'unknown'
  /** From asking to the answer; without an answer `undefined`. */
  readonly latencyMillis: number | undefined
  /** How much later than planned it began. */
  readonly lateMillis: number
  readonly error: Error | undefined
}

/** Checks many targets through one pool, evenly spread over their intervals. It holds the process until `stop` or `unref`. */
export interface HealthMonitor extends AsyncDisposable {
  /** Checked for the first time within its interval. @throws TunnelError `ERR_INVALID_OPTION` */
  add(check: HealthCheck): void
  /** A check that is under way is given up. An id that is not known is ignored. */
  remove(id: string): void
  /** `undefined`: never checked. */
  state(id: string): { readonly healthy: boolean; readonly since: Date; readonly lastVerifiedAt: Date } | undefined
  /** `lagMillis`: how late the monitor itself is now. */
  readonly stats: {
    readonly checks: number
    readonly healthy: number
    readonly unhealthy: number
    readonly unknown: number
    readonly lagMillis: number
  }
  on(event: 'check' | 'healthy' | 'unhealthy', listener: (fact: CheckFact) => void): this
  off(event: 'check' | 'healthy' | 'unhealthy', listener: (fact: CheckFact) => void): this
  /** Gives up what is under way; resolves when that has ended. The pool stays as it is. */
  stop(): Promise<void>
  ref(): this
  unref(): this
}
