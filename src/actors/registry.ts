import { type ActorRefFrom, createActor, fromCallback } from 'xstate'
import type { destinationMachine } from '../../machines/destination.ts'
import type { RegistryEvent, TunnelTimes } from '../../machines/events.ts'
import type { tunnelMachine } from '../../machines/tunnel.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import type { ResolvedTarget } from '../target.ts'
import { quietly, remaining, unlessAborted } from '../wait.ts'
import { onEnd } from './contain.ts'
import { Destination } from './destination.ts'
import { destinationLogic } from './destination-logic.ts'
import type { LeaseRecord } from './lease-record.ts'
import { Leaving } from './leaving.ts'
import type { Parts } from './parts.ts'
import { destinationTimes, tunnelTimes } from './times.ts'
import { tunnelLogic } from './tunnel-logic.ts'
import { abortedBy } from './waiter.ts'

/** How a test changes the machines that a pool runs. */
export interface MachineChanges {
  readonly tunnel?: (machine: typeof tunnelMachine) => typeof tunnelMachine
  readonly destination?: (machine: typeof destinationMachine) => typeof destinationMachine
}

type Ref = ActorRefFrom<typeof destinationMachine>

/**
 * Every destination of a pool by key. Each is an XState system of its own, and this a plain Map outside XState's books: spawning 10,000
 * children from one machine copies the list of children 10,000 times.
 */
export class Registry {
  readonly #parts: Parts
  readonly #logic: typeof destinationMachine
  readonly #tunnelTimes: TunnelTimes
  readonly #byKey = new Map<string, Destination>()
  readonly #byId = new Map<string, Destination>()
  readonly #refs = new Map<Destination, Ref>()
  readonly #forget: (key: string) => void
  #emptied: (() => void) | undefined
  readonly #watchers = new Set<(ref: Ref) => void>()
  readonly #ending = new AbortController()
  readonly #leaving: Leaving

  constructor(parts: Parts, forget: (key: string) => void, changes: MachineChanges) {
    this.#parts = parts
    this.#forget = forget
    this.#leaving = new Leaving(parts.clock, (destination, event) => this.#refs.get(destination)?.send(event))
    this.#tunnelTimes = tunnelTimes(parts.options)
    this.#logic = destinationLogic(this.#byId, tunnelLogic(parts.tunnels, changes.tunnel), changes.destination)
  }

  find(target: ResolvedTarget): Destination | undefined {
    return this.#byKey.get(target.key)
  }

  all(): Iterable<Destination> {
    return this.#byKey.values()
  }

  /** What people call a destination, and since when it is in its state. */
  about(id: string): { label: string | undefined; since: Date } | undefined {
    const destination = this.#byId.get(id)
    return destination === undefined ? undefined : { label: destination.target.label, since: destination.since }
  }

  refs(): Iterable<Ref> {
    return this.#refs.values()
  }

  /** Tells of every destination's root actor from now on, until the result is called. */
  watchSpawns(watch: (ref: Ref) => void): () => void {
    this.#watchers.add(watch)
    return () => this.#watchers.delete(watch)
  }

  /** Aborts when nothing more is lent, with what whoever asks is told. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** A lease on a target's tunnel, at once if there is one to lend. A destination that leaves just now is waited for, and the next one asked. */
  acquire(target: ResolvedTarget, options: ResolvedAcquireOptions, stack?: string): LeaseRecord | Promise<LeaseRecord> {
    if (options.signal?.aborted) throw abortedBy(options.signal)
    if (this.#ending.signal.aborted) throw this.#ending.signal.reason
    const destination = this.ensure(target)
    return destination.isLeaving ? this.#acquireNext(destination, options, stack) : destination.lending.acquire(options, stack)
  }

  /** The destination of a target, made if there is none; it may be leaving. */
  ensure(target: ResolvedTarget): Destination {
    return this.#byKey.get(target.key) ?? this.#make(target)
  }

  async #acquireNext(leaving: Destination, options: ResolvedAcquireOptions, stack: string | undefined): Promise<LeaseRecord> {
    const { clock } = this.#parts
    const until = clock.now() + options.timeoutMillis
    const over = new AbortController()
    const timer = clock.setTimeout(() => over.abort(), remaining(clock, until))
    const bound = AbortSignal.any([over.signal, this.ending, ...(options.signal ? [options.signal] : [])])
    try {
      await unlessAborted(leaving.ended, bound)
    } catch {
      if (this.ending.aborted) throw this.ending.reason
      throw over.signal.aborted ? leaving.lending.expired(options) : abortedBy(options.signal)
    } finally {
      clock.clearTimeout(timer)
    }
    // One that breaks as soon as it is made would be made for ever.
    if (leaving.failure !== undefined) throw leaving.failure
    return await this.acquire(leaving.target, { ...options, timeoutMillis: until - clock.now() }, stack)
  }

  /** What the pool's machine invokes: it is told to drain or destroy, and says when none is left. */
  readonly logic = fromCallback<RegistryEvent, undefined>(({ receive, sendBack }) => {
    receive((event) => {
      this.#emptied = () => sendBack({ type: 'registry.emptied' })
      if (event.type === 'registry.drain') this.#leaving.drain(event)
      else this.#leaving.destroy(event.reason)
      this.#checkEmpty()
    })
    return () => {}
  })

  /** What leases and waiters are told when the pool ends. */
  endBy(error: TunnelError): void {
    for (const destination of this.#byKey.values()) destination.endBy(error)
    this.#ending.abort(error)
  }

  #make(target: ResolvedTarget): Destination {
    const { options, clock, transports } = this.#parts
    const destination = new Destination(this.#parts, target, this)
    this.#byKey.set(target.key, destination)
    this.#byId.set(target.id, destination)
    const actor = createActor(this.#logic, {
      id: target.id,
      clock: clock as never,
      input: {
        id: target.id,
        needsDirectory: transports[target.transport].needsDirectory,
        hasJump: target.jump !== undefined,
        times: destinationTimes(options),
        tunnelTimes: this.#tunnelTimes,
      },
    })
    destination.attach(actor)
    this.#leaving.add(destination)
    this.#refs.set(destination, actor)
    onEnd(actor, {
      ended: () => quietly(this.#remove(destination)),
      broken: (cause) =>
        quietly(this.#remove(destination, new TunnelError('ERR_LOST', `${target.id}: its own code failed`, { cause }))),
    })
    for (const watch of this.#watchers) watch(actor)
    actor.start()
    return destination
  }

  /** Frees everything by force, without the pool's machine. */
  async abandon(error: TunnelError): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((destination) => this.#remove(destination, error)))
  }

  async #remove(destination: Destination, error?: TunnelError): Promise<void> {
    const ref = this.#refs.get(destination)
    if (ref === undefined) return
    this.#refs.delete(destination)
    await destination.end(error)
    ref.stop()
    const { key, id } = destination.target
    if (this.#byKey.get(key) === destination) this.#byKey.delete(key)
    if (this.#byId.get(id) === destination) this.#byId.delete(id)
    this.#forget(key)
    this.#leaving.remove(destination)
    destination.leave()
    this.#checkEmpty()
  }

  #checkEmpty(): void {
    if (this.#byKey.size === 0) this.#emptied?.()
  }
}
