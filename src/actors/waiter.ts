import { onAbort } from '../aborts.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Parts } from './parts.ts'

/** What was asked for, when, and with `traceLeases` from where. */
export interface Asked {
  readonly options: ResolvedAcquireOptions
  /** Monotonic. */
  readonly askedAt: number
  readonly stack: string | undefined
}

/** Somebody who waits for a lease. It settles once; until then it keeps its place in the line. */
export class Waiter implements Asked {
  readonly options: ResolvedAcquireOptions
  readonly askedAt: number
  readonly stack: string | undefined
  readonly since: Date
  /** Monotonic time since when somebody waits, here or behind it. */
  readonly waitsSince: number
  /** Monotonic. */
  readonly deadline: number
  readonly #parts: Parts
  readonly #settled: (waiter: Waiter) => void
  readonly #timer: unknown
  readonly #resolve: (lease: LeaseRecord) => void
  readonly #reject: (error: unknown) => void
  readonly #takeBack: () => void
  isSettled = false

  constructor(
    parts: Parts,
    { options, stack }: Pick<Asked, 'options' | 'stack'>,
    settle: { resolve: (lease: LeaseRecord) => void; reject: (error: unknown) => void },
    settled: (waiter: Waiter) => void,
    expired: () => TunnelError,
  ) {
    this.#parts = parts
    this.options = options
    this.stack = stack
    this.askedAt = parts.clock.now()
    this.since = parts.clock.date()
    this.waitsSince = options.since ?? this.askedAt
    this.deadline = this.askedAt + options.timeoutMillis
    this.#resolve = settle.resolve
    this.#reject = settle.reject
    this.#settled = settled
    this.#takeBack = onAbort(options.signal, () => this.reject(abortedBy(options.signal)))
    this.#timer = parts.clock.setTimeout(() => this.reject(expired()), options.timeoutMillis)
    if (!options.isJump) parts.tally.waiting += 1
  }

  resolve(lease: LeaseRecord): void {
    if (this.#settle()) this.#resolve(lease)
  }

  reject(error: unknown): void {
    if (this.#settle()) this.#reject(error)
  }

  #settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    this.#parts.clock.clearTimeout(this.#timer)
    this.#takeBack()
    if (!this.options.isJump) this.#parts.tally.waiting -= 1
    this.#settled(this)
    return true
  }
}

/** What a caller's own signal does to its wait. */
export function abortedBy(signal: AbortSignal | undefined): TunnelError {
  return new TunnelError('ERR_ABORTED', 'the wait was aborted by its signal', { cause: signal?.reason, phase: 'queued' })
}
