import type { CheckFact } from '../api/monitor.ts'

export type CheckEvent = 'check' | 'healthy' | 'unhealthy'
type Listener = (fact: CheckFact) => void

/** Tells each fact to whoever listens; listeners cannot throw into the monitor. */
export class Listeners {
  readonly #by: Readonly<Record<CheckEvent, Set<Listener>>> = { check: new Set(), healthy: new Set(), unhealthy: new Set() }
  #hasThrown = false

  add(event: CheckEvent, listener: Listener): void {
    this.#by[event].add(listener)
  }

  remove(event: CheckEvent, listener: Listener): void {
    this.#by[event].delete(listener)
  }

  tell(event: CheckEvent, fact: CheckFact): void {
    for (const listener of this.#by[event]) {
      try {
        const result: unknown = listener(fact)
        // An async listener's rejection would end the process just as well.
        if (result instanceof Promise) result.catch((error) => this.#warn(error))
      } catch (error) {
        this.#warn(error)
      }
    }
  }

  #warn(error: unknown): void {
    if (this.#hasThrown) return
    this.#hasThrown = true
    const message = error instanceof Error ? error.message : String(error)
    process.emitWarning(`a listener given to a health monitor threw (told once): ${message}`, { type: 'WarrenWarning' })
  }
}
