import { performance } from 'node:perf_hooks'
import type { Clock } from '../../src/clock.ts'

const LONGEST_TIMER_MILLIS = 2 ** 31 - 1

/** A clock that runs `times` as fast as the machine's: minutes of back-off within a second of test. */
export function fastClock(times: number): Clock {
  const began = performance.now()
  const startedAt = Date.now()
  const passed = () => (performance.now() - began) * times
  return {
    now: passed,
    boot: passed,
    date: () => new Date(startedAt + passed()),
    setTimeout: (fn, millis) => (millis > LONGEST_TIMER_MILLIS ? undefined : setTimeout(fn, millis / times).unref()),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  }
}
