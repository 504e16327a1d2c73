const LONGEST_TIMER_MILLIS = 2 ** 31 - 1

/** Keeps the process alive while anything is owed to the user: pending promises, leases, standing endpoints. One handle serves all. */
export class Hold {
  #count = 0
  #hasEnded = false
  #timer: NodeJS.Timeout | undefined

  take(): void {
    this.#count += 1
    if (this.#count > 1) return
    if (this.#timer === undefined) this.#arm()
    else this.#timer.ref()
  }

  give(): void {
    this.#count -= 1
    if (this.#count > 0) return
    if (this.#hasEnded) this.#stop()
    else this.#timer?.unref()
  }

  /** Holds the process until a promise settles. */
  async during<T>(promise: Promise<T>): Promise<T> {
    this.take()
    try {
      return await promise
    } finally {
      this.give()
    }
  }

  /** The pool is closed: nothing is left to hold for. */
  end(): void {
    this.#hasEnded = true
    this.#stop()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #arm(): void {
    this.#timer = setTimeout(() => this.#arm(), LONGEST_TIMER_MILLIS)
    if (this.#count === 0) this.#timer.unref()
  }
}
