import type { ActorRefFrom } from 'xstate'
import type { destinationMachine } from '../../machines/destination.ts'
import type { DestinationContext } from '../../machines/destination-words.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedTarget } from '../target.ts'
import { type Admittee, enterPlace } from './admission.ts'
import { Exclusives } from './exclusives.ts'
import { Jumping } from './jumping.ts'
import { Lending } from './lending.ts'
import type { Parts } from './parts.ts'
import type { Registry } from './registry.ts'
import { Resting } from './resting.ts'
import { Successions } from './successions.ts'
import { Tunnel } from './tunnel.ts'

type Ref = ActorRefFrom<typeof destinationMachine>

/** What one destination's machine acts through: who waits, which tunnel is lent, what is known of the other end. */
export class Destination {
  readonly parts: Parts
  readonly target: ResolvedTarget
  readonly tunnels = new Map<number, Tunnel>()
  readonly lending: Lending
  readonly resting: Resting
  readonly exclusives: Exclusives
  readonly successions: Successions
  /** How it comes by its jump, if it has one. */
  readonly jumping: Jumping | undefined
  /** Hear of every move to another state. */
  readonly watchers = new Set<() => void>()
  /** How many standing endpoints lead to it: while there is one, it is not forgotten. */
  endpoints = 0
  /** Resolves when its machine is final and every tunnel of it is. */
  readonly ended: Promise<void>
  state = 'dormant'
  /** When it entered it. */
  since: Date
  /** Why its machine broke, if it did. */
  failure: TunnelError | undefined
  /** Monotonic time of the last proof through a tunnel that has ended. */
  lastProvenAt = Number.NEGATIVE_INFINITY
  #ref: Ref | undefined
  #leave: () => void = () => {}
  #endError: TunnelError | undefined
  #lostAt = Number.NEGATIVE_INFINITY
  #hasEnded = false

  constructor(parts: Parts, target: ResolvedTarget, registry: Registry) {
    this.parts = parts
    this.since = parts.clock.date()
    this.target = target
    this.resting = new Resting(parts.clock, target.id)
    this.lending = new Lending(this)
    this.exclusives = new Exclusives(this)
    this.successions = new Successions()
    this.jumping = target.jump && new Jumping(this, registry, target.jump)
    this.ended = new Promise((resolve) => {
      this.#leave = resolve
    })
    parts.tally.moveDestination(undefined, this.state)
  }

  attach(ref: Ref): void {
    this.#ref = ref
  }

  tell(event: Parameters<Ref['send']>[0]): void {
    this.#ref?.send(event)
  }

  /** The machine has entered another of its states. */
  moved(to: string, context: DestinationContext): void {
    // What comes after leaving is told by `end`.
    if (to === 'left') return
    const { tally, facts, options } = this.parts
    tally.moveDestination(this.state, to)
    this.state = to
    this.since = this.parts.clock.date()
    if (to === 'serving') this.resting.end()
    const isResting = to === 'resting' || to === 'barred'
    if (isResting) this.lending.rest(to === 'resting' ? context.restMillis : options.barredRetryMillis)
    this.exclusives.moved()
    for (const look of [...this.watchers]) look()
    if (!isResting) return
    const error = this.resting.cause ?? new TunnelError('ERR_LOST', `${this.target.id}: the dial failed`)
    if (to === 'barred') facts.publish('destination.barred', { destination: this.target.id, error })
    else
      facts.publish('destination.resting', {
        destination: this.target.id,
        retryAt: this.resting.retryAt ?? new Date(8.64e15),
        error,
      })
  }

  /** The machine's context: ids, counts and times. */
  get known() {
    return this.#ref?.getSnapshot().context
  }

  get current(): Tunnel | undefined {
    const generation = this.known?.current
    return generation === undefined ? undefined : this.tunnels.get(generation)
  }

  /** Nobody is served by it any more: who asks now waits for its end, and asks the next. */
  get isLeaving(): boolean {
    return this.state === 'leaving' || this.#hasEnded
  }

  get isRipe(): boolean {
    return this.resting.isOver && this.#ref?.getSnapshot().matches({ barred: 'ready' }) === true
  }

  /** Lifts the bar and the back-off. */
  reset(): void {
    if (this.state === 'resting' || this.state === 'barred') this.resting.end()
    this.tell({ type: 'destination.reset' })
  }

  /** Redials after a loss are spread when many tunnels of the pool are lost at once. */
  get mayDialNow(): boolean {
    const { losses, clock } = this.parts
    return clock.now() - this.#lostAt > 1_000 || !losses.isStorm
  }

  /** Waits for a place to dial and enters the tunnel that will dial in it. Rejects with `JumpGone` when the jump is not lent any more. */
  async admit(signal: AbortSignal, admittee: Admittee): Promise<Tunnel> {
    const { parts, target } = this
    const place = await enterPlace(this, signal, admittee)
    const tunnel = new Tunnel(parts, target, parts.nextGeneration(), place, admittee.jump, {
      lost: (error) => this.#lost(tunnel, error),
      outlived: () => this.#outlived(tunnel),
    })
    tunnel.endError = this.#endError
    this.tunnels.set(tunnel.generation, tunnel)
    parts.tunnels.set(tunnel.generation, tunnel)
    // XState drops what a stopped actor still brings.
    const discard = () => {
      if (!tunnel.isAttached) this.farewell(tunnel.generation)
    }
    if (signal.aborted) discard()
    else signal.addEventListener('abort', discard, { once: true })
    return tunnel
  }

  /** A tunnel is worn out, or the jump under it is not lent any more: if it is the current one, another takes its place. */
  #outlived(tunnel: Tunnel): void {
    queueMicrotask(() => {
      if (tunnel === this.current) this.tell({ type: 'life.over' })
    })
  }

  /** An open tunnel was lost. Told before its destination's machine hears of it. */
  #lost(tunnel: Tunnel, error: TunnelError): void {
    this.#lostAt = this.parts.clock.now()
    if (tunnel === this.current) this.resting.cause = error
  }

  /** A tunnel is final. */
  farewell(generation: number): void {
    const tunnel = this.tunnels.get(generation)
    if (tunnel === undefined) return
    this.tunnels.delete(generation)
    this.parts.tunnels.delete(generation)
    tunnel.farewell()
    this.lastProvenAt = Math.max(this.lastProvenAt, tunnel.provenAt)
    this.successions.ended(generation)
  }

  /** The whole destination ends: what its leases and waiters are told. */
  endBy(error: TunnelError): void {
    this.#endError = error
    for (const tunnel of this.tunnels.values()) tunnel.endError = error
  }

  /** Its machine leaves, for a fault of its own if one is given: nobody who waits will be served by it. */
  dismiss(fault: string | undefined): void {
    const error =
      this.#endError ??
      (fault === undefined
        ? new TunnelError('ERR_POOL_CLOSED', `${this.target.id}: the destination ends`, { phase: 'queued' })
        : new TunnelError('ERR_LOST', `${this.target.id}: its own code failed: ${fault}`))
    this.lending.rejectAll(error)
    this.exclusives.end(error)
    // A tunnel whose actor never ran tells no end.
    for (const { isAttached, generation } of [...this.tunnels.values()])
      if (!isAttached) this.tell({ type: 'tunnel.ended', generation, code: undefined, wasOpen: false })
  }

  /** Replaces the current generation, successor first; resolves when the old one is final. */
  retire(isForced: boolean, reason: string | undefined): Promise<void> {
    const old = this.known?.current ?? this.known?.dialing
    if (old === undefined) return Promise.resolve()
    const tunnel = this.tunnels.get(old)
    if (tunnel !== undefined) tunnel.record.retiredFor ??= reason
    const done = this.successions.join(old, isForced)
    this.tell({ type: 'destination.retire', force: isForced })
    return done
  }

  announceStuck(generation: number): void {
    const tunnel = this.tunnels.get(generation)
    if (tunnel === undefined || tunnel.record.wasStuck) return
    tunnel.record.wasStuck = true
    this.parts.room.despair(tunnel)
    this.parts.facts.publish('tunnel.stuck', { destination: this.target.id, generation, resources: tunnel.scope.entries() })
  }

  /** The actor of a tunnel broke: it is not lent again, its scope is freed by force, and then the end is reported that it could not. */
  async autopsy(generation: number): Promise<void> {
    const tunnel = this.tunnels.get(generation)
    if (tunnel === undefined || tunnel.record.isBroken) return
    tunnel.error ??= new TunnelError('ERR_LOST', `${this.target.id}: the tunnel's own code failed`)
    const told = { generation, code: tunnel.error.code, wasOpen: tunnel.record.broke(tunnel.error) }
    this.tell({ type: 'tunnel.draining', ...told })
    await tunnel.bury(() => this.tell({ type: 'tunnel.stuck', ...told }))
    tunnel.record.buried(told)
    this.tell({ type: 'tunnel.ended', ...told })
  }

  /** Its machine is final, or broke for the given reason: whatever is left is freed by force. */
  async end(error?: TunnelError): Promise<void> {
    this.#hasEnded = true
    this.failure = error
    this.jumping?.drop()
    for (const look of [...this.watchers]) look()
    const told = error ?? this.#endError ?? new TunnelError('ERR_POOL_CLOSED', `${this.target.id}: the destination has ended`)
    this.lending.rejectAll(told)
    this.exclusives.end(told)
    this.successions.fail(told)
    const burials = [...this.tunnels].map(async ([generation, tunnel]) => {
      tunnel.endError ??= told
      await tunnel.bury(() => this.announceStuck(generation))
      this.farewell(generation)
    })
    await Promise.all(burials)
    this.parts.tally.moveDestination(this.state, undefined)
  }

  /** Nobody finds it any more: who waited for its end asks the next. */
  leave(): void {
    this.#leave()
  }
}
