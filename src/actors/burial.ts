import type { Clock } from '../clock.ts'

/** Between attempts, doubling. */
const MIN_MILLIS = 1_000
const MAX_MILLIS = 60_000

/** Forces a release again and again until it is done, as the machine would that broke. `stuck` hears of each attempt that did not help in time. */
export async function untilReleased(force: () => Promise<void>, clock: Clock, stuck?: () => void): Promise<void> {
  for (let millis = MIN_MILLIS; ; millis = Math.min(MAX_MILLIS, 2 * millis)) {
    if (await within(millis, force(), clock)) return
    stuck?.()
  }
}

function within(millis: number, promise: Promise<void>, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(false), millis)
    const settle = (then: () => void) => {
      clock.clearTimeout(timer)
      then()
    }
    promise.then(
      () => settle(() => resolve(true)),
      (error) => settle(() => reject(error)),
    )
  })
}
