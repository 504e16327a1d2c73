import type { Clock } from '../clock.ts'

const LOOK_AGAIN_MILLIS = 50

/**
 * Notices that the machine was suspended: monotonic time stands still then and boot time does not, so that what looks proven a second ago
 * may be hours old. Looked for when somebody asks, at most every 50 ms (asking the kernel costs 3 µs).
 */
export class Naps {
  readonly #clock: Clock
  readonly #longestMillis: number
  #lead: number
  #lookedAt: number
  #wokeAt = Number.NEGATIVE_INFINITY

  /** A nap is a gap longer than `longestMillis`. */
  constructor(clock: Clock, longestMillis: number) {
    this.#clock = clock
    this.#longestMillis = longestMillis
    this.#lead = clock.boot() - clock.now()
    this.#lookedAt = clock.now()
  }

  /** Monotonic time of the last waking: no proof is older. */
  get wokeAt(): number {
    const now = this.#clock.now()
    if (now - this.#lookedAt < LOOK_AGAIN_MILLIS) return this.#wokeAt
    const lead = this.#clock.boot() - now
    if (lead - this.#lead > this.#longestMillis) this.#wokeAt = now
    this.#lead = lead
    this.#lookedAt = now
    return this.#wokeAt
  }
}
