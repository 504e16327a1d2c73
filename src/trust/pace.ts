import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

const LONGEST_TURN_MILLIS = 5

/** Cuts long work into turns of the event loop: `if (pace.isOver()) await pace.nextTurn()`. */
export class Pace {
  #began = performance.now()

  /** Whether this turn has taken its 5 ms. */
  isOver(): boolean {
    return performance.now() - this.#began > LONGEST_TURN_MILLIS
  }

  async nextTurn(): Promise<void> {
    await setImmediate()
    this.#began = performance.now()
  }
}
