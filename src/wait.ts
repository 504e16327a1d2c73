import { onAbort } from './aborts.ts'

/** Rejects with the signal's reason as soon as it aborts; the promise goes on unheard, and `late` gets a value it still brings. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, late?: (value: T) => void): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    const takeBack = onAbort(signal, () => reject(signal.reason))
    promise.then(
      (value) => {
        takeBack()
        if (signal.aborted) late?.(value)
        resolve(value)
      },
      (error) => {
        takeBack()
        reject(error)
      },
    )
  })
}

/** Waits for promises that are bounded elsewhere, and for nothing they say. */
export const quietly = (promise: Promise<unknown>): void => {
  promise.catch(() => {
    // Whoever made it has told the error already; this only keeps it from ending the process.
  })
}

const LONGEST_TIMER_MILLIS = 2 ** 31 - 1

/** What is left until a monotonic time, ms, as a timer takes it. */
export const remaining = (clock: { now(): number }, until: number): number =>
  Math.min(LONGEST_TIMER_MILLIS, Math.max(0, Math.ceil(until - clock.now())))
