import type { TransportName } from './target.ts'

/** Timeouts: 0 at once, Infinity never. Keepalive interval: 0 or Infinity is off. */
export interface PoolOptions {
  /** 'ssh2', the embedded default. */
  transport?: TransportName | undefined
  /** 10_000; jumps count; the least recently used tunnel without a lease makes room. */
  maxTunnels?: number | undefined
  /** 512 waiting for TCP and the banner (a descriptor each, no CPU). */
  maxConnecting?: number | undefined
  /** 8 between banner and authenticated (CPU). openssh: 2 per core, from spawn. */
  maxOpening?: number | undefined
  /** 8 logins at once per address logged in to: servers drop at MaxStartups. */
  maxOpeningPerAddress?: number | undefined
  /** 10_000; one more is `ERR_POOL_EXHAUSTED`. Waiting for room under maxTunnels counts. */
  maxWaiting?: number | undefined
  /** 15_000 */
  acquireTimeoutMillis?: number | undefined
  /** 10_000 for all phases, from the start of connecting. */
  openTimeoutMillis?: number | undefined
  /** 5_000 */
  channelTimeoutMillis?: number | undefined
  /** 120_000 without a lease. */
  idleTimeoutMillis?: number | undefined
  /** 10_000: a tunnel not proven alive for longer makes one round trip before it is lent. */
  verifyAfterMillis?: number | undefined
  /** Infinity; spread by ± 10 %. */
  maxLifetimeMillis?: number | undefined
  /** 10_000 */
  drainTimeoutMillis?: number | undefined
  /** 1_000 between asking and forcing. */
  closeGraceMillis?: number | undefined
  /** 10_000 */
  keepAliveIntervalMillis?: number | undefined
  /** 3 */
  keepAliveCountMax?: number | undefined
  /** 250, doubling with full jitter to 30_000. */
  backoffMinMillis?: number | undefined
  backoffMaxMillis?: number | undefined
  /** 300_000: after a permanent failure, one attempt when asked with `whenResting: 'dial'`. */
  barredRetryMillis?: number | undefined
  /** 268_435_456 over all channels; above it reading pauses. */
  maxBufferedBytes?: number | undefined
  /** true: a jump is a tunnel of this pool, shared by all behind it. */
  shareJumps?: boolean | undefined
  /** false: hold one idle session per tunnel, so that sshd sends without delay on new channels. */
  holdSession?: boolean | undefined
  /** Default: $XDG_RUNTIME_DIR, else the system's temporary directory. */
  runtimeDirectory?: string | undefined
  /** Absolute; default: `ssh` found once on PATH. */
  sshPath?: string | undefined
  /** winston, or anything with this method. Silent by default. */
  logger?: Logger | undefined
  /** Opt-in: close on these, then re-raise; a second one destroys at once. */
  closeOnSignals?: readonly NodeJS.Signals[] | undefined
  /** Keep the stack of each acquire for report(). */
  traceLeases?: boolean | undefined
}
export interface Logger {
  log(level: string, message: string, fields?: Record<string, unknown>): unknown
}
