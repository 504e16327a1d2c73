import { type Channel, channel } from 'node:diagnostics_channel'
import type { Logger } from '../api/options.ts'
import type { PoolFacts } from '../api/report.ts'
import { Repeats } from './repeats.ts'

type Name = keyof PoolFacts
type Listener = (fact: never) => void

/** Every fact and the level at which it is logged. */
const LEVEL: Readonly<Record<Name, string>> = {
  'tunnel.opened': 'debug',
  'tunnel.lost': 'warn',
  'tunnel.failed': 'warn',
  'tunnel.closed': 'debug',
  'tunnel.stuck': 'error',
  'destination.resting': 'info',
  'destination.barred': 'error',
  'lease.acquired': 'debug',
  'lease.released': 'debug',
  'lease.abandoned': 'warn',
  'forward.refused': 'info',
  'pool.swept': 'info',
}

/** Tells each fact once, after what caused it is done, to whoever listens. Listeners cannot throw into the pool. */
export class Facts {
  readonly #logger: Logger | undefined
  readonly #listeners = new Map<Name, Set<Listener>>()
  readonly #channels = new Map<Name, Channel>()
  readonly #repeats = new Repeats()
  /** Listeners and loggers that threw: counted, told once. */
  #threw = 0

  constructor(logger: Logger | undefined) {
    this.#logger = logger
    for (const name of Object.keys(LEVEL) as Name[]) this.#channels.set(name, channel(`ssh-warren:${name}`))
  }

  on(name: Name, listener: Listener): void {
    const listeners = this.#listeners.get(name) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(name, listeners)
  }

  off(name: Name, listener: Listener): void {
    this.#listeners.get(name)?.delete(listener)
  }

  /** Costs nothing beyond two look-ups while nobody listens. */
  publish<N extends Name>(name: N, fact: PoolFacts[N]): void {
    const topic = this.#channels.get(name)
    const isHeard = (this.#listeners.get(name)?.size ?? 0) > 0
    if (!isHeard && this.#logger === undefined && topic?.hasSubscribers !== true) return
    // Not inside the transition that it tells of: a listener may well ask the pool for something.
    queueMicrotask(() => {
      for (const listener of [...(this.#listeners.get(name) ?? [])]) this.#safely(() => listener(fact as never))
      if (topic?.hasSubscribers === true) this.#safely(() => topic.publish(fact))
      if (this.#logger !== undefined) this.#log(name, fact)
    })
  }

  #log(name: Name, fact: object): void {
    const heldBack = this.#repeats.pass(name, fact)
    if (heldBack === undefined) return
    this.#safely(() => this.#logger?.log(LEVEL[name], name, heldBack === 0 ? { ...fact } : { ...fact, heldBack }))
  }

  /** Calls a listener of the user's, not inside the transition that it is told of; what it throws ends nothing. */
  tell(listener: () => unknown): void {
    queueMicrotask(() => this.#safely(listener))
  }

  #safely(tell: () => unknown): void {
    try {
      const result = tell()
      // An async listener's rejection would end the process just as well.
      if (result instanceof Promise) result.catch(() => this.#count(undefined))
    } catch (error) {
      this.#count(error)
    }
  }

  #count(error: unknown): void {
    this.#threw += 1
    if (this.#threw > 1) return
    process.emitWarning(
      `a listener or logger given to a tunnel pool threw (told once): ${error instanceof Error ? error.message : String(error)}`,
      {
        type: 'WarrenWarning',
      },
    )
  }
}
