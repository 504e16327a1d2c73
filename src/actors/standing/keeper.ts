import { restAfter } from '../../../machines/verdict.ts'
import { onAbort } from '../../aborts.ts'
import { TunnelError } from '../../errors.ts'
import { acquireDefaults } from '../../options/acquire.ts'
import { quietly } from '../../wait.ts'
import type { LeaseRecord } from '../lease-record.ts'
import { destinationTimes } from '../times.ts'
import type { Reverse } from './reverse.ts'
import type { Site } from './site.ts'

/** A lease for one endpoint that the process need not live for: the endpoint itself says whether it must. */
function unheld(lease: LeaseRecord, { parts }: Site): LeaseRecord {
  parts.hold.give()
  onAbort(lease.ending, () => parts.hold.take())
  return lease
}

/** Resolves when the tunnel under a lease is not lent any more, or the signal aborts. */
function outlived(lease: LeaseRecord, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      lease.onDraining = undefined
      stay()
      notOver()
      resolve()
    }
    lease.onDraining = settle
    const stay = onAbort(lease.ending, settle)
    const notOver = onAbort(signal, settle)
    if (lease.refusal !== undefined || signal.aborted || !lease.tunnel.isOpen) settle()
  })
}

/** Keeps a tunnel open under an endpoint, generation after generation: an eager one, or one for which the server listens. */
export class Keeper {
  /** Why it has none. */
  cause: TunnelError | undefined
  isUp = false
  readonly #site: Site
  readonly #reverse: Reverse | undefined
  #turn = new AbortController()
  #failures = 0

  constructor(site: Site, reverse?: Reverse) {
    this.#site = site
    this.#reverse = reverse
  }

  /** The first time, for somebody who waits: rejects with why not, and then has kept nothing. */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    const { parts } = this.#site
    const over = new AbortController()
    const expire = () =>
      over.abort(new TunnelError('ERR_ACQUIRE_TIMEOUT', 'the server did not listen in time', { phase: 'forward' }))
    const timer = parts.clock.setTimeout(expire, parts.options.acquireTimeoutMillis)
    const stay = onAbort(signal, () => over.abort(signal?.reason))
    let lease: LeaseRecord | undefined
    try {
      lease = await this.#acquire(signal, parts.options.acquireTimeoutMillis)
      await this.#reverse?.listen(lease, over.signal)
    } catch (error) {
      lease?.release(undefined)
      throw error
    } finally {
      parts.clock.clearTimeout(timer)
      stay()
    }
    this.#set(true)
    quietly(this.#run(this.#turn.signal, lease))
  }

  /** From now on, whether it succeeds or not. */
  start(): void {
    quietly(this.#run(this.#turn.signal, undefined))
  }

  /** The endpoint leads to another target. */
  move(): void {
    this.#turn.abort()
    this.#turn = new AbortController()
    this.#failures = 0
    this.#set(false)
    quietly(this.#reverse?.leave() ?? Promise.resolve())
    this.start()
  }

  /** Gives everything back; resolves when the server listens no longer. */
  async stop(): Promise<void> {
    this.#turn.abort()
    this.#set(false)
    await this.#reverse?.leave()
  }

  async #acquire(signal: AbortSignal | undefined, timeoutMillis: number): Promise<LeaseRecord> {
    const { registry, target, label } = this.#site
    const lease = await registry.acquire(target, { ...acquireDefaults(timeoutMillis), whenResting: 'wait', label, signal })
    return unheld(lease, this.#site)
  }

  async #run(signal: AbortSignal, first: LeaseRecord | undefined): Promise<void> {
    let given = first
    while (!signal.aborted) {
      let lease: LeaseRecord
      try {
        lease = given ?? (await this.#acquire(signal, Number.POSITIVE_INFINITY))
      } catch (error) {
        if (signal.aborted || this.#site.registry.ending.aborted) return
        // Barred, or full: nothing to be done before that changes.
        this.#fail(error)
        await this.#site.nextMove(signal, Math.max(1_000, this.#site.parts.options.backoffMaxMillis))
        continue
      }
      const ends = outlived(lease, signal)
      if (this.#reverse === undefined) this.#set(true)
      else if (given === undefined) await this.#listen(this.#reverse, lease, ends, signal)
      given = undefined
      await ends
      if (lease.refusal !== undefined) this.#fail(lease.refusal)
      // A tunnel on which the server still listens is left when it listens on the next, unless that one waits for the place of this one.
      if (this.#reverse?.holds(lease) !== true) lease.release(undefined)
      else if (!signal.aborted && this.#site.registry.find(this.#site.target)?.state !== 'serving') {
        this.#set(false)
        await this.#reverse.leave()
      }
    }
  }

  /** Tries until the server listens, or there is another tunnel to try on. */
  async #listen(reverse: Reverse, lease: LeaseRecord, ends: Promise<void>, signal: AbortSignal): Promise<void> {
    const { parts } = this.#site
    let isOver = false
    const over = new AbortController()
    void ends.then(() => {
      isOver = true
      over.abort(lease.refusal ?? new TunnelError('ERR_LOST', `${this.#site.target.id}: the tunnel is not lent any more`))
    })
    while (!isOver) {
      try {
        await reverse.listen(lease, over.signal)
        this.#failures = 0
        this.#set(true)
        return
      } catch (error) {
        if (signal.aborted) return
        this.#fail(error)
        this.#failures += 1
        await this.#pause(restAfter(this.#failures, destinationTimes(parts.options)), ends)
      }
    }
  }

  #pause(millis: number, ends: Promise<void>): Promise<void> {
    const { clock } = this.#site.parts
    return new Promise((resolve) => {
      const timer = clock.setTimeout(resolve, millis)
      void ends.then(() => {
        clock.clearTimeout(timer)
        resolve()
      })
    })
  }

  #fail(error: unknown): void {
    const cause = TunnelError.is(error) ? error : new TunnelError('ERR_LOST', String(error), { cause: error })
    this.cause = cause.code === 'ERR_CIRCUIT_OPEN' && TunnelError.is(cause.cause) ? cause.cause : cause
    this.#set(false)
  }

  #set(isUp: boolean): void {
    this.isUp = isUp
    if (isUp) this.cause = undefined
    this.#site.changed()
  }
}
