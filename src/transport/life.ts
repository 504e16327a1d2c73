import { onAbort } from '../aborts.ts'
import type { Clock } from '../clock.ts'
import type { TunnelError } from '../errors.ts'
import type { Bounds } from './transport.ts'

/** How long a connection lives, and those who wait for something in it: whatever they wait for, its end answers them. */
export class ConnectionLife {
  /** Why it is gone; `undefined` while it lives. */
  error: TunnelError | undefined
  readonly #clock: Clock
  readonly #listeners = new Set<(error: TunnelError) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back once, when it is gone for whatever reason; at once if it is. */
  onLost(listener: (error: TunnelError) => void): void {
    if (this.error === undefined) this.#listeners.add(listener)
    else listener(this.error)
  }

  /** It is gone. `free` comes before anybody is told. */
  end(error: TunnelError, free: (error: TunnelError) => void): void {
    if (this.error !== undefined) return
    this.error = error
    free(error)
    for (const listener of this.#listeners) listener(error)
    this.#listeners.clear()
  }

  /** Waits for an answer of the other side; `start` may throw. `settled` is called when nobody waits for it any more. */
  answer<T>(
    start: (settle: (value: T) => void, fail: (error: unknown) => void) => void,
    { signal, timeoutMillis }: Bounds,
    tooLate: () => TunnelError,
    settled: () => void = () => {},
  ): Promise<T> {
    if (this.error !== undefined || signal?.aborted) {
      settled()
      return Promise.reject(this.error ?? signal?.reason)
    }
    return new Promise<T>((resolve, reject) => {
      let isSettled = false
      const settle = (then: () => void) => {
        if (isSettled) return
        isSettled = true
        this.#clock.clearTimeout(timer)
        takeBack()
        this.#listeners.delete(fail)
        settled()
        then()
      }
      const fail = (error: unknown) => settle(() => reject(error))
      const timer = this.#clock.setTimeout(() => fail(tooLate()), timeoutMillis)
      const takeBack = onAbort(signal, () => fail(signal?.reason))
      this.#listeners.add(fail)
      try {
        start((value) => settle(() => resolve(value)), fail)
      } catch (error) {
        fail(error)
      }
    })
  }
}
