import { type ActorRefFrom, type AnyActorRef, createActor, fromPromise } from 'xstate'
import { poolMachine } from '../../machines/pool.ts'
import type { TunnelPool } from '../api/pool.ts'
import type { Assembly } from '../assemble.ts'
import { TunnelError } from '../errors.ts'
import { Inspector } from '../observe/inspect.ts'
import { shownReport } from '../observe/shown-report.ts'
import type { Scope } from '../owners/scope.ts'
import { quietly } from '../wait.ts'
import { contained, onEnd } from './contain.ts'
import type { Parts } from './parts.ts'
import { type MachineChanges, Registry } from './registry.ts'
import { reportOf } from './report.ts'
import { closeOnSignals } from './signals.ts'
import { Standings } from './standing/standings.ts'
import { SweepOnce } from './sweep-once.ts'

/** A pool from its making to its end: the pool's machine, its registry, and the promise that all is gone. */
export class PoolLife {
  readonly parts: Parts
  readonly registry: Registry
  readonly standings: Standings
  readonly #scope: Scope
  readonly #actor: ActorRefFrom<typeof poolMachine>
  readonly #closed: Promise<void>
  readonly #sweep: SweepOnce
  #closeError: TunnelError | undefined

  constructor({ parts, scope }: Assembly, forget: (key: string) => void, changes: MachineChanges, pool: TunnelPool) {
    this.parts = parts
    this.#scope = scope
    this.#sweep = new SweepOnce(parts, scope)
    this.registry = new Registry(parts, forget, changes)
    this.standings = new Standings(parts, this.registry, scope)
    const machine = poolMachine.provide({
      actors: {
        registry: this.registry.logic,
        release: fromPromise<void, { force: boolean }>(async ({ input }) => {
          await this.#sweep.end()
          if (input.force) scope.force()
          else scope.ask()
          await scope.emptied()
        }),
      },
    })
    this.#actor = createActor(contained(machine, { fault: (message) => ({ type: 'pool.fault', message }) }), {
      id: 'pool',
      clock: parts.clock as never,
      input: { closeGraceMillis: parts.options.closeGraceMillis },
    })
    const releaseSignals = closeOnSignals(parts.options.closeOnSignals, pool)
    this.#closed = new Promise<void>((resolve) => {
      const end = () => {
        releaseSignals()
        parts.hold.end()
        resolve()
      }
      onEnd(this.#actor, { ended: end, broken: () => quietly(this.#rescue().then(end)) })
    })
    parts.owner.answer = () => shownReport(reportOf(this.registry.all()), parts.tally.snapshot())
    this.#actor.start()
  }

  /** @throws TunnelError `ERR_POOL_CLOSED` */
  assertOpen(): void {
    if (this.#closeError !== undefined) throw this.#closeError
    this.#sweep.begin()
  }

  close(withinMillis: number): Promise<void> {
    this.#refuse(new TunnelError('ERR_POOL_CLOSED', 'the pool was closed', { phase: 'close' }))
    this.#actor.send({ type: 'pool.close', withinMillis })
    return this.#bounded(withinMillis + this.parts.options.closeGraceMillis)
  }

  destroy(cause: Error | undefined): Promise<void> {
    const reason = cause === undefined ? 'the pool was destroyed' : `the pool was destroyed: ${cause.message}`
    const error = new TunnelError('ERR_POOL_CLOSED', reason, { ...(cause === undefined ? {} : { cause }), phase: 'close' })
    this.#closeError = error
    this.#refuse(error)
    this.#actor.send({ type: 'pool.destroy', reason })
    return this.#bounded(this.parts.options.closeGraceMillis)
  }

  /** Shows every machine's events to an observer, those that are there first, until the result is called. */
  inspect(given: Parameters<TunnelPool['inspect']>[0]): () => void {
    const inspector = new Inspector(given, this.#actor, (id) => this.registry.about(id))
    const watching = new Map<AnyActorRef, () => void>()
    const watch = (ref: AnyActorRef) => {
      inspector.introduce(ref)
      const telling = ref.system.inspect(inspector.tell)
      const ending = ref.subscribe({ complete: () => watching.delete(ref), error: () => watching.delete(ref) })
      watching.set(ref, () => {
        telling.unsubscribe()
        ending.unsubscribe()
      })
    }
    watch(this.#actor)
    for (const ref of this.registry.refs()) watch(ref)
    const stop = this.registry.watchSpawns(watch)
    return () => {
      stop()
      for (const unwatch of watching.values()) unwatch()
      watching.clear()
    }
  }

  #refuse(error: TunnelError): void {
    this.#closeError ??= error
    this.registry.endBy(error)
    this.standings.end()
  }

  async #bounded(millis: number): Promise<void> {
    const { clock, hold, ledger } = this.parts
    let timer: unknown
    const stuck = new Promise<never>((_, reject) => {
      const judge = () => {
        const left = ledger.entries().map(({ kind, label, owner }) => `${kind} ${label} (${owner})`)
        const list = left.length === 0 ? 'nothing in the ledger, but a machine has not ended' : left.slice(0, 20).join(', ')
        reject(new TunnelError('ERR_STUCK', `not closed within ${millis} ms, still trying; left: ${list}`, { phase: 'close' }))
      }
      // What a timer has forced in this very turn is gone by the end of the next.
      timer = clock.setTimeout(() => setImmediate(() => setImmediate(judge)), millis)
    })
    quietly(stuck)
    try {
      await hold.during(Promise.race([this.#closed, stuck]))
    } finally {
      clock.clearTimeout(timer)
    }
  }

  /** The pool's own machine broke: everything is freed by force, without it. */
  async #rescue(): Promise<void> {
    const error = new TunnelError('ERR_POOL_CLOSED', "the pool's own code failed")
    this.#refuse(error)
    await this.registry.abandon(error)
    await this.#sweep.end()
    this.#scope.force()
    await this.#scope.emptied()
  }
}
