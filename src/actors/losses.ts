import type { Clock } from '../clock.ts'

const WINDOW_MILLIS = 1_000
const STORM = 10

/** Losses over the whole pool: when a network or a bastion goes, the redials are spread instead of coming all at once. */
export class Losses {
  readonly #clock: Clock
  readonly #recent: number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(): void {
    this.#recent.push(this.#clock.now())
    if (this.#recent.length > STORM + 1) this.#recent.shift()
  }

  /** More than 10 within the last second. */
  get isStorm(): boolean {
    const first = this.#recent[0]
    return this.#recent.length > STORM && first !== undefined && this.#clock.now() - first < WINDOW_MILLIS
  }
}
