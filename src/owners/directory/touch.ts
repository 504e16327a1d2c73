import { lutimes } from 'node:fs/promises'
import type { Clock } from '../../clock.ts'
import type { Held, Scope } from '../scope.ts'

const HOUR_MILLIS = 3_600_000

/** Sets the times of all paths every hour: age-based cleaners of temporary directories take what nobody has touched for days. */
export class Touch {
  readonly #clock: Clock
  readonly #paths: () => Iterable<string>
  readonly #held: Held
  #timer: unknown

  constructor(scope: Scope, clock: Clock, paths: () => Iterable<string>) {
    this.#clock = clock
    this.#paths = paths
    this.#held = scope.hold('timer', 'hourly touch', { force: () => this.stop() })
    this.#schedule()
  }

  /** Idempotent. */
  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#held.strike()
  }

  #schedule(): void {
    if (!this.#held.isGone) this.#timer = this.#clock.setTimeout(() => void this.#touch(), HOUR_MILLIS)
  }

  /** One after another: thousands of paths may wait for a disk, but not in front of everything else in libuv's queue. */
  async #touch(): Promise<void> {
    const now = this.#clock.date()
    for (const path of this.#paths()) {
      // What has gone in the meantime needs no touch.
      await lutimes(path, now, now).catch(() => {})
    }
    this.#schedule()
  }
}
