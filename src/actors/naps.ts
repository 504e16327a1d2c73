import type { Clock } from '../clock.ts'

const LOOK_AGAIN_MILLIS = 50
/** Boot time is told in hundredths of a second: less than this is no nap but rounding. */
const SHORTEST_MILLIS = 1_000
/** Without keepalives to go by. */
const USUAL_MILLIS = 20_000

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

  /** A nap is a gap longer than `longestMillis`, which is twice the keepalive; 0 and Infinity, no keepalive, stand for 20 s. */
  constructor(clock: Clock, longestMillis: number) {
    this.#clock = clock
    const isOff = longestMillis === 0 || longestMillis === Number.POSITIVE_INFINITY
    this.#longestMillis = isOff ? USUAL_MILLIS : Math.max(SHORTEST_MILLIS, longestMillis)
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
