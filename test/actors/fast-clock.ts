import { type Clock, systemClock } from '../../src/clock.ts'

/** The machine's time, run so many times as fast: seconds of back-off and grace pass in a test, and the network stays as it is. */
export function fastClock(times: number): Clock {
  return {
    now: () => systemClock.now() * times,
    boot: () => systemClock.boot() * times,
    date: () => systemClock.date(),
    setTimeout: (fn, millis) => systemClock.setTimeout(fn, millis / times),
    clearTimeout: (timer) => systemClock.clearTimeout(timer),
  }
}
