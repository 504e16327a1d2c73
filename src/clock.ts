import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'

/** Above this Node fires a timer after 1 ms instead. */
const LONGEST_TIMER_MILLIS = 2 ** 31 - 1
/** A timer later than this was held up by a blocked loop, a stopped process or a suspended machine. */
const LATE_MILLIS = 250

/** Time as the pool sees it; injected, so that a test can run it. Also the clock of every XState system. */
export interface Clock {
  /** Monotonic, ms. Decides every deadline. */
  now(): number
  /** Since boot, ms, a machine's suspend included (Linux CLOCK_BOOTTIME). */
  boot(): number
  /** Wall time, for people only. */
  date(): Date
  /** Does not hold the process. A delay above 2^31-1 ms, Infinity among them, is no timer at all. */
  setTimeout(fn: () => void, millis: number): unknown
  clearTimeout(timer: unknown): void
}

class Timer {
  #timer: NodeJS.Timeout | undefined
  #turn: NodeJS.Immediate | undefined

  constructor(fn: () => void, millis: number) {
    const due = performance.now() + millis
    this.#timer = setTimeout(() => {
      if (performance.now() - due < LATE_MILLIS) return fn()
      // Node runs overdue timers before it reads sockets: what would have met the deadline may be lying there unread.
      this.#turn = setImmediate(() => {
        this.#turn = setImmediate(fn)
      })
      return undefined
    }, millis).unref()
  }

  clear(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#turn)
  }
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  boot: () => uptime() * 1_000,
  date: () => new Date(),
  setTimeout: (fn, millis) => (millis > LONGEST_TIMER_MILLIS ? undefined : new Timer(fn, millis)),
  clearTimeout: (timer) => {
    if (timer instanceof Timer) timer.clear()
  },
}
