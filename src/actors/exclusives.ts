import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import { JumpGone } from './admission.ts'
import type { Destination } from './destination.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Tunnel } from './tunnel.ts'
import { Waiter } from './waiter.ts'

/** After a failure no dial for this long, whoever wants one: the destination's machine keeps to the same. */
const HUSH_MILLIS = 1_000
/** No further exclusive dial while this many tunnels of the destination will not die. */
const MAX_STUCK = 3

/** One who waits for a tunnel of its own. */
interface Wish {
  readonly waiter: Waiter
  /** Ends the wait for a place to dial; one for each attempt. */
  controller: AbortController
  generation: number | undefined
}

/**
 * Tunnels of one lease each: dialled for it, never current, closed with it. They share the destination's back-off and bar: while it rests
 * they wait as they were told to, and after a failure they are dialled one at a time, so that many who wait are not many failures.
 */
export class Exclusives {
  readonly #home: Destination
  readonly #parked = new Set<Wish>()
  readonly #dialing = new Set<Wish>()
  #timer: unknown
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(home: Destination) {
    this.#home = home
  }

  /** Those who wait, the first to ask first. */
  get waiters(): Waiter[] {
    return [...this.#dialing, ...this.#parked].map(({ waiter }) => waiter)
  }

  acquire(options: ResolvedAcquireOptions, stack: string | undefined): Promise<LeaseRecord> {
    const refusal = this.#home.lending.refusal(options) ?? this.#stuckRefusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise<LeaseRecord>((resolve, reject) => {
      const expired = () => this.#home.lending.expired(options, wish.generation)
      const waiter = new Waiter(this.#home.parts, { options, stack }, { resolve, reject }, () => this.#forget(wish), expired)
      const wish: Wish = { waiter, controller: new AbortController(), generation: undefined }
      this.#parked.add(wish)
      this.#go()
    })
  }

  #stuckRefusal(): TunnelError | undefined {
    const stuck = this.#home.known?.stuck.length ?? 0
    if (stuck < MAX_STUCK) return undefined
    return new TunnelError(
      'ERR_STUCK',
      `${this.#home.target.id}: no further dial while ${stuck} tunnels will not die; see report()`,
    )
  }

  /** The destination has entered another state: who was waiting for that goes on, and who waits in vain hears of it. */
  moved(): void {
    const { state, lending, parts } = this.#home
    if (state === 'resting' || state === 'barred') {
      this.#failedAt = parts.clock.now()
      for (const wish of [...this.#dialing]) if (wish.generation === undefined) this.#park(wish)
      for (const { waiter } of [...this.#parked]) lending.judge(waiter)
    }
    // Not inside the transition.
    if (this.#parked.size > 0) queueMicrotask(() => this.#go())
  }

  /** Dials for all who may be dialled for now. */
  #go(): void {
    const { clock } = this.#home.parts
    // Asked once: between two askings the hush may end, and nobody would be woken.
    const rested = clock.now() - this.#failedAt
    for (const wish of this.#parked) {
      if (!this.#mayDial(wish, rested)) continue
      this.#parked.delete(wish)
      this.#dialing.add(wish)
      this.#dial(wish)
    }
    clock.clearTimeout(this.#timer)
    const hush = HUSH_MILLIS - rested
    this.#timer = this.#parked.size > 0 && hush > 0 ? clock.setTimeout(() => this.#go(), Math.ceil(hush)) : undefined
  }

  #mayDial({ waiter }: Wish, rested: number): boolean {
    const { state, isRipe, known } = this.#home
    if (this.#dialing.size > 0 && (known?.failures ?? 0) > 0) return false
    if (state !== 'resting' && state !== 'barred') return true
    if (waiter.options.whenResting !== 'dial') return false
    return state === 'barred' ? isRipe : rested >= HUSH_MILLIS
  }

  #dial(wish: Wish): void {
    const home = this.#home
    const { signal } = wish.controller
    this.#admit(wish, signal).then(
      (tunnel) => {
        // Given up meanwhile: `admit` has seen to the tunnel.
        if (signal.aborted) return
        wish.generation = tunnel.generation
        home.tell({ type: 'exclusive.admitted', generation: tunnel.generation })
        if (tunnel.isAttached) return
        home.farewell(tunnel.generation)
        // Its machine broke at birth, or there is nobody left to run it.
        wish.waiter.reject(tunnel.error ?? new TunnelError('ERR_POOL_CLOSED', 'the destination ends', { phase: 'queued' }))
      },
      (error) => {
        if (!signal.aborted) wish.waiter.reject(error)
      },
    )
  }

  async #admit({ waiter }: Wish, signal: AbortSignal): Promise<Tunnel> {
    const { jumping, known } = this.#home
    for (;;) {
      const jump = await jumping?.lease(signal, waiter.options.whenResting, waiter.waitsSince)
      try {
        return await this.#home.admit(signal, {
          isFailing: (known?.failures ?? 0) > 0,
          jump,
          since: waiter.waitsSince,
          isJump: waiter.options.isJump,
        })
      } catch (error) {
        if (!(error instanceof JumpGone)) throw error
        if (error.loss !== undefined) throw error.loss
      }
    }
  }

  #park(wish: Wish): void {
    this.#dialing.delete(wish)
    wish.controller.abort(new TunnelError('ERR_ABORTED', 'the destination rests'))
    wish.controller = new AbortController()
    wish.generation = undefined
    this.#parked.add(wish)
  }

  #forget(wish: Wish): void {
    this.#parked.delete(wish)
    const wasDialing = this.#dialing.delete(wish)
    wish.controller.abort(new TunnelError('ERR_ABORTED', 'nobody waits for this tunnel any more'))
    const tunnel = wish.generation === undefined ? undefined : this.#home.tunnels.get(wish.generation)
    if (tunnel?.leases.size === 0) tunnel.tell({ type: 'tunnel.destroy', reason: 'nobody waits for it' })
    if (wasDialing) queueMicrotask(() => this.#go())
  }

  #wishOf(generation: number): Wish | undefined {
    for (const wish of this.#dialing) if (wish.generation === generation) return wish
    return undefined
  }

  /** It is open: lent as soon as its own transition is done. */
  grant(generation: number): void {
    queueMicrotask(() => {
      const wish = this.#wishOf(generation)
      const tunnel = this.#home.tunnels.get(generation)
      if (wish === undefined || tunnel === undefined) return
      // The host is up: nobody else need wait for it to have rested.
      if (this.#home.state === 'resting' || this.#home.state === 'barred') this.#home.reset()
      this.#home.resting.cause = undefined
      const lease = this.#home.lending.lend(tunnel, wish.waiter)
      if (lease === undefined) wish.waiter.reject(tunnel.failure('ERR_LOST', 'it was lost before it could be lent'))
      else wish.waiter.resolve(lease)
    })
  }

  /** It did not open, or its remains will not die: who would rather wait on does, if the destination rests now. */
  fail(generation: number): void {
    const wish = this.#wishOf(generation)
    if (wish === undefined) return
    const { lending, parts, tunnels, resting } = this.#home
    const error = tunnels.get(generation)?.failure(undefined, 'the dial failed')
    this.#failedAt = parts.clock.now()
    if (error !== undefined && this.#home.state !== 'serving') resting.cause = error
    if (wish.waiter.options.whenResting !== 'wait') wish.waiter.reject(error ?? lending.expired(wish.waiter.options, generation))
    else this.#park(wish)
    // Once it has entered the state that this failure brings.
    queueMicrotask(() => {
      const { state } = this.#home
      if (state === 'barred') resting.begin(parts.options.barredRetryMillis, resting.cause)
      if (state !== 'resting' && this.#parked.has(wish)) wish.waiter.reject(error)
      this.#go()
    })
  }

  /** It is not dialled at all. */
  refuse(generation: number, error: TunnelError): void {
    this.#wishOf(generation)?.waiter.reject(error)
  }

  /** The destination ends. */
  end(error: TunnelError): void {
    for (const waiter of this.waiters) waiter.reject(error)
    this.#home.parts.clock.clearTimeout(this.#timer)
  }
}
