import { performance } from 'node:perf_hooks'
import type { Clock } from '../../src/clock.ts'

const LONGEST_TIMER_MILLIS = 2 ** 31 - 1
const TICK_MILLIS = 1

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/**
 * A clock that runs `times` as fast as the machine's, and only while this process has nothing to do: however busy the machine is, work that is under way
 * does not run out of time. For a pool whose peers are all in this process, by whatever reads neither files nor names.
 */
export class IdleClock implements Clock {
  readonly #times: number
  readonly #timers = new Set<Timer>()
  readonly #startedAt = Date.now()
  #passed = 0
  #events = 0
  #isTicking = false

  constructor(times: number) {
    this.#times = times
  }

  readonly now = (): number => this.#passed
  readonly boot = (): number => this.#passed
  readonly date = (): Date => new Date(this.#startedAt + this.#passed)

  readonly setTimeout = (fn: () => void, millis: number): unknown => {
    if (millis > LONGEST_TIMER_MILLIS) return undefined
    const timer = { due: this.#passed + millis, fn }
    this.#timers.add(timer)
    if (!this.#isTicking) this.#tick()
    return timer
  }

  readonly clearTimeout = (timer: unknown): void => {
    this.#timers.delete(timer as Timer)
  }

  #tick(): void {
    this.#isTicking = true
    // After the poll for what has come in, whatever is due by Node's own timers.
    setTimeout(() => setImmediate(() => this.#turn()), TICK_MILLIS).unref()
  }

  #turn(): void {
    const { events } = performance.nodeTiming.uvMetricsInfo
    if (events === this.#events) this.#pass()
    this.#events = events
    this.#isTicking = false
    if (this.#timers.size > 0) this.#tick()
  }

  #pass(): void {
    this.#passed += TICK_MILLIS * this.#times
    const due = [...this.#timers].filter((timer) => timer.due <= this.#passed).sort((one, other) => one.due - other.due)
    for (const timer of due) if (this.#timers.delete(timer)) timer.fn()
  }
}
