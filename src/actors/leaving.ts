import type { DestinationEvent, RegistryEvent } from '../../machines/events.ts'
import type { Clock } from '../clock.ts'
import type { Destination } from './destination.ts'

type Drain = Extract<RegistryEvent, { type: 'registry.drain' }>

/** In what order the destinations of a pool that closes leave: targets drain before the jumps that they are reached through. */
export class Leaving {
  readonly #clock: Clock
  readonly #tell: (destination: Destination, event: DestinationEvent) => void
  readonly #staying = new Map<string, Destination>()
  /** How many are reached through a destination, by its key. */
  readonly #behind = new Map<string, number>()
  #drain: (Drain & { until: number }) | undefined

  constructor(clock: Clock, tell: (destination: Destination, event: DestinationEvent) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  add(destination: Destination): void {
    const { key, jump } = destination.target
    this.#staying.set(key, destination)
    if (jump !== undefined) this.#behind.set(jump.key, (this.#behind.get(jump.key) ?? 0) + 1)
  }

  /** It is gone: the jump that it was the last behind may leave now, too. */
  remove(destination: Destination): void {
    const { key, jump } = destination.target
    if (this.#staying.get(key) === destination) this.#staying.delete(key)
    if (jump === undefined) return
    const left = (this.#behind.get(jump.key) ?? 0) - 1
    if (left > 0) this.#behind.set(jump.key, left)
    else this.#behind.delete(jump.key)
    const next = this.#staying.get(jump.key)
    if (next !== undefined) this.#leave(next)
  }

  /** All leave, those first that nobody is reached through; again with a shorter time. */
  drain(event: Drain): void {
    this.#drain = { ...event, until: this.#clock.now() + event.withinMillis }
    for (const destination of [...this.#staying.values()]) this.#leave(destination)
  }

  /** All end at once, the farthest first. */
  destroy(reason: string): void {
    const farthestFirst = [...this.#staying.values()].sort((a, b) => b.target.hops - a.target.hops)
    for (const destination of farthestFirst) this.#tell(destination, { type: 'destination.destroy', reason })
  }

  #leave(destination: Destination): void {
    if (this.#drain === undefined || this.#behind.has(destination.target.key)) return
    const { graceMillis, until } = this.#drain
    const withinMillis = Math.max(0, until - this.#clock.now())
    this.#tell(destination, { type: 'destination.leave', reason: 'the pool closes', withinMillis, graceMillis })
  }
}
