import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import type { Destination } from './destination.ts'
import { LeaseRecord } from './lease-record.ts'
import type { Parts } from './parts.ts'
import type { Tunnel } from './tunnel.ts'
import { type Asked, Waiter } from './waiter.ts'

/** Who gets a lease of a destination's current tunnel, and who waits for the next: first come, first served. */
export class Lending {
  readonly waiters = new Set<Waiter>()
  readonly #home: Destination
  readonly #parts: Parts
  #isWanted = false
  #isServing = false

  constructor(home: Destination) {
    this.#home = home
    this.#parts = home.parts
  }

  /** Whether targets wait for it as their jump: its dial goes first. */
  get isJump(): boolean {
    for (const { options } of this.waiters) if (options.isJump) return true
    return false
  }

  /** Monotonic time since when somebody waits; now, when nobody does. */
  get since(): number {
    let since = this.#parts.clock.now()
    for (const { waitsSince } of this.waiters) since = Math.min(since, waitsSince)
    return since
  }

  /** A lease, at once if the current tunnel can be lent, else when it is this one's turn. */
  acquire(options: ResolvedAcquireOptions, stack: string | undefined): LeaseRecord | Promise<LeaseRecord> {
    if (options.isExclusive) return this.#home.exclusives.acquire(options, stack)
    return this.lendNow(this.#home.current, options, stack) ?? this.#queue(options, stack)
  }

  /** A lease of a tunnel that is the current one, proven, and that nobody waits for. */
  lendNow(tunnel: Tunnel | undefined, options: ResolvedAcquireOptions, stack?: string): LeaseRecord | undefined {
    const askedAt = this.#parts.clock.now()
    if (this.waiters.size > 0 || tunnel !== this.#home.current || !this.#isProven(tunnel, askedAt)) return undefined
    return this.lend(tunnel, { options, askedAt, stack })
  }

  /** Proven lately enough, or since it was asked for: however short `verifyAfterMillis` is, one round trip is enough. */
  #isProven(tunnel: Tunnel | undefined, askedAt: number): boolean {
    if (tunnel === undefined || !tunnel.isOpen) return false
    const { clock, options, naps } = this.#parts
    const { provenAt } = tunnel
    return provenAt > naps.wokeAt && (provenAt >= askedAt || clock.now() - provenAt <= options.verifyAfterMillis)
  }

  /** A lease of a tunnel, if its machine counts it. */
  lend(tunnel: Tunnel | undefined, { options, askedAt, stack }: Asked): LeaseRecord | undefined {
    if (tunnel === undefined) return undefined
    const parts = this.#parts
    const lease = new LeaseRecord(tunnel, parts.nextLease(), options, stack)
    if (!tunnel.leases.grant(lease)) return undefined
    if (options.isJump) return lease
    const waitMillis = lease.takenAt - askedAt
    parts.facts.publish('lease.acquired', {
      destination: this.#home.target.id,
      generation: tunnel.generation,
      lease: lease.id,
      label: options.label,
      waitMillis,
    })
    return lease
  }

  #queue(options: ResolvedAcquireOptions, stack: string | undefined): Promise<LeaseRecord> {
    const refusal = this.refusal(options)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = new Waiter(
        this.#parts,
        { options, stack },
        { resolve, reject },
        (settled) => {
          this.waiters.delete(settled)
          this.#syncWanted()
        },
        () => this.expired(options),
      )
      this.waiters.add(waiter)
      this.#syncWanted()
      if (options.whenResting === 'dial') this.#home.tell({ type: 'dial.forced' })
      this.#home.jumping?.joined()
      if (this.#home.state === 'serving') this.serveSoon()
    })
  }

  /** Why this acquire is refused at the door. */
  refusal(options: ResolvedAcquireOptions): TunnelError | undefined {
    const { clock, tally, options: limits } = this.#parts
    if (this.#home.target.hops >= limits.maxTunnels)
      return new TunnelError(
        'ERR_POOL_EXHAUSTED',
        `${this.#home.target.id} and its jumps do not fit into maxTunnels (${limits.maxTunnels})`,
        { phase: 'queued' },
      )
    if (tally.waiting >= limits.maxWaiting && !options.isJump)
      return new TunnelError('ERR_POOL_EXHAUSTED', `${limits.maxWaiting} acquires are waiting already (maxWaiting)`, {
        phase: 'queued',
      })
    if (options.timeoutMillis === 0) return this.#home.resting.refusal(this.#home, options, clock.now()) ?? this.expired(options)
    return this.#home.resting.refusal(this.#home, options, clock.now() + options.timeoutMillis)
  }

  /** What an acquire is told whose time is up, by how far the dial is that it waits for. */
  expired({ timeoutMillis }: Pick<ResolvedAcquireOptions, 'timeoutMillis'>, dialing = this.#home.known?.dialing): TunnelError {
    const jump = this.#home.jumping?.expired(timeoutMillis)
    if (jump !== undefined) return jump
    const phase = (dialing === undefined ? undefined : this.#home.tunnels.get(dialing)?.phase) ?? 'queued'
    const { cause } = this.#home.resting
    const where = phase === 'queued' ? 'still waiting for a place to dial' : `the dial was at ${phase}`
    return new TunnelError('ERR_ACQUIRE_TIMEOUT', `${this.#home.target.id}: no tunnel within ${timeoutMillis} ms (${where})`, {
      cause,
      phase,
      hop: cause?.hop,
    })
  }

  #syncWanted(): void {
    const isWanted = this.waiters.size > 0
    if (isWanted === this.#isWanted) return
    this.#isWanted = isWanted
    this.#home.tell({ type: isWanted ? 'dial.wanted' : 'dial.unwanted' })
  }

  /** Serves once the transition under way is done: a tunnel that is still in it counts nobody. */
  serveSoon(): void {
    if (this.#isServing) return
    this.#isServing = true
    queueMicrotask(() => {
      this.#isServing = false
      this.#serve()
    })
  }

  #serve(): void {
    const tunnel = this.#home.current
    if (tunnel === undefined || !tunnel.isOpen) return
    for (const waiter of this.waiters) {
      if (!this.#isProven(tunnel, waiter.askedAt)) {
        tunnel.tell({ type: 'tunnel.verify' })
        return
      }
      const lease = this.lend(tunnel, waiter)
      // Not counted: it stays first in line for the next generation.
      if (lease === undefined) return
      waiter.resolve(lease)
    }
    if (tunnel.leases.size > 0) return
    this.#parts.idle.add(tunnel)
    this.#parts.room.makeRoom()
  }

  /** A dial failed: all who wait hear why, except those who would rather wait on. */
  fail(generation: number): void {
    const { tunnels, resting, target } = this.#home
    const error =
      tunnels.get(generation)?.failure(undefined, 'the dial failed') ??
      new TunnelError('ERR_LOST', `${target.id}: there was no place to dial in`)
    resting.cause = error
    for (const waiter of [...this.waiters]) if (waiter.options.whenResting !== 'wait') waiter.reject(error)
  }

  /** The jump cannot be leased: those who would rather wait on do, as long as that is not in vain. */
  failByJump(error: TunnelError, isVain: (waiter: Waiter) => boolean): void {
    this.#home.resting.cause = error
    for (const waiter of [...this.waiters]) if (waiter.options.whenResting !== 'wait' || isVain(waiter)) waiter.reject(error)
  }

  /** It rests or is barred from now: waiting may have become vain. */
  rest(millis: number): void {
    this.#home.resting.begin(millis, this.#home.resting.cause)
    for (const waiter of [...this.waiters]) this.judge(waiter)
  }

  /** Rejects a waiter if it waits in vain. */
  judge(waiter: Waiter): void {
    const refusal = this.#home.resting.refusal(this.#home, waiter.options, waiter.deadline)
    if (refusal !== undefined) waiter.reject(refusal)
  }

  rejectAll(error: TunnelError): void {
    for (const waiter of [...this.waiters]) waiter.reject(error)
  }
}
