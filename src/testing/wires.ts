import type { Socket } from 'node:net'
import { closed } from './closed.ts'
import { type Weather, Wire } from './wire.ts'

/** Random bytes per wire and call: enough that no cipher waits for more before it finds them wrong. */
const GARBAGE_BYTES = 64

/** All the wires of one host or relay, present and future, under one weather. */
export class Wires {
  readonly #wires = new Set<Wire>()
  readonly #weather: Weather = { isFrozen: false, delayMillis: 0, swallowsFin: false, drops: false, resetAt: undefined }
  readonly #allowHalfOpen: boolean

  constructor(options: { allowHalfOpen: boolean }) {
    this.#allowHalfOpen = options.allowHalfOpen
  }

  /** Takes over a socket. */
  add(socket: Socket): Wire {
    const wire = new Wire(socket, this.#weather, { allowHalfOpen: this.#allowHalfOpen })
    this.#wires.add(wire)
    // A write that crosses its end; unheard it would end the process.
    wire.on('error', () => {})
    wire.once('close', () => this.#wires.delete(wire))
    return wire
  }

  get size(): number {
    return this.#wires.size
  }

  /** From now on; what is not named stays as it is. */
  change(weather: Partial<Weather>): void {
    Object.assign(this.#weather, weather)
    for (const wire of this.#wires) wire.weatherChanged()
  }

  sever(): void {
    for (const wire of this.#wires) wire.reset()
  }

  garbage(to: 'client' | 'server'): void {
    for (const wire of this.#wires) wire.inject(GARBAGE_BYTES, to)
  }

  /** Frees every socket, whatever the weather. */
  async close(): Promise<void> {
    const all = [...this.#wires].map(closed)
    for (const wire of this.#wires) wire.destroy()
    await Promise.all(all)
  }
}
