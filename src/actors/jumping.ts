import { onAbort } from '../aborts.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import type { ResolvedTarget } from '../target.ts'
import { JumpGone } from './admission.ts'
import type { Destination } from './destination.ts'
import { hopError } from './jump.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Registry } from './registry.ts'
import type { Waiter } from './waiter.ts'

/** These tell of the pool or of whoever waits, and of no hop. */
const NOT_THE_HOPS: ReadonlySet<string> = new Set(['ERR_POOL_CLOSED', 'ERR_ABORTED'])

/**
 * How one destination comes by its jump: another destination of the pool, of whose tunnel it takes a lease before it asks for any place to
 * dial. What keeps the jump from being leased is told to those who wait here, and is no failure of this destination.
 */
export class Jumping {
  readonly #home: Destination
  readonly #registry: Registry
  readonly #jump: ResolvedTarget
  /** Leased, and no tunnel made of it yet. */
  #held: LeaseRecord | undefined
  #isWaiting = false
  #look: () => void = () => {}

  constructor(home: Destination, registry: Registry, jump: ResolvedTarget) {
    this.#home = home
    this.#registry = registry
    this.#jump = jump
  }

  /** Takes a lease for the next dial; rejects with why there is none, when nobody waits for it any more. */
  async approach(signal: AbortSignal): Promise<void> {
    const isServing = this.#home.state === 'serving'
    this.#isWaiting = !isServing
    try {
      for (;;) {
        const { waiters } = this.#home.lending
        const isForced = !isServing && [...waiters].some(({ options }) => options.whenResting === 'dial')
        const lease = await this.lease(signal, isForced ? 'dial' : 'reject', this.#home.lending.since).catch((error) => {
          if (isServing || signal.aborted) throw error
          this.#home.lending.failByJump(error, (waiter) => this.#isVain(waiter))
          if (waiters.size === 0) throw error
        })
        if (lease === undefined) {
          await this.#change(signal)
          continue
        }
        if (signal.aborted) lease.release(undefined)
        else this.#held = lease
        return
      }
    } finally {
      this.#isWaiting = false
    }
  }

  /** A lease on the jump; rejects with an error that names the hop. */
  async lease(signal: AbortSignal, whenResting: ResolvedAcquireOptions['whenResting'], since: number): Promise<LeaseRecord> {
    const { id } = this.#home.target
    try {
      signal.throwIfAborted()
      const lease = await this.#registry.acquire(this.#jump, {
        forwards: [],
        signal,
        timeoutMillis: Number.POSITIVE_INFINITY,
        whenResting,
        isExclusive: !this.#home.parts.options.shareJumps,
        label: `jump of ${id}`,
        isJump: true,
        since,
      })
      if (!signal.aborted) return lease
      lease.release(undefined)
      throw signal.reason
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!TunnelError.is(error) || NOT_THE_HOPS.has(error.code)) throw error
      throw hopError(error, this.#jump, id)
    }
  }

  /** The lease that was taken, for whoever dials now: it is theirs from here on. */
  take(): LeaseRecord {
    const lease = this.#held
    this.#held = undefined
    if (lease === undefined) throw new JumpGone(undefined)
    return lease
  }

  /** No tunnel is begun after all. */
  drop(): void {
    this.#held?.release(undefined)
    this.#held = undefined
  }

  /** Somebody else waits now, who may not want to wait for a jump that rests. */
  joined(): void {
    this.#look()
  }

  /** The hop that rests or is barred and so keeps this destination from being dialled, if one does. */
  get blocker(): Destination | undefined {
    for (let hop: ResolvedTarget | undefined = this.#jump; hop !== undefined; hop = hop.jump) {
      const destination = this.#registry.find(hop)
      if (destination?.state === 'resting' || destination?.state === 'barred') return destination
    }
    return undefined
  }

  /** What an acquire is told whose time is up while the jump is waited for; `undefined` when it is not. */
  expired(timeoutMillis: number): TunnelError | undefined {
    if (!this.#isWaiting) return undefined
    const expired = this.#registry.find(this.#jump)?.lending.expired({ timeoutMillis })
    return expired && hopError(expired, this.#jump, this.#home.target.id)
  }

  /** Whether somebody who would rather wait for a jump that rests waits in vain. */
  #isVain({ options, deadline }: Waiter): boolean {
    const blocker = this.blocker
    return blocker === undefined || blocker.resting.refusal(blocker, options, deadline) !== undefined
  }

  /** Waits until the jump may be worth another try: it rests no longer, or somebody else waits here. */
  async #change(signal: AbortSignal): Promise<void> {
    const blocker = this.blocker
    if (blocker === undefined) return
    await new Promise<void>((resolve, reject) => {
      const settle = (then: () => void) => {
        blocker.watchers.delete(look)
        takeBack()
        this.#look = () => {}
        then()
      }
      const look = () => settle(resolve)
      const takeBack = onAbort(signal, () => settle(() => reject(signal.reason)))
      this.#look = look
      blocker.watchers.add(look)
    })
  }
}
