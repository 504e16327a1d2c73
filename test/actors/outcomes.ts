import type { Clock } from '../../src/clock.ts'

/** How long anything may take to settle, in ms of the pool's clock. */
const BOUND_MILLIS = 200_000
/** How long something that need not come about is waited for. */
const FACT_MILLIS = 15_000

/** Promises that a scenario has begun; each must settle, whatever it comes to. */
export class Outcomes {
  readonly #clock: Clock
  readonly #under = new Set<string>()
  #begun = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Its value, or undefined if it rejects. */
  async of<T>(what: string, promise: Promise<T>): Promise<T | undefined> {
    this.#begun += 1
    const name = `${what} (${this.#begun}.)`
    this.#under.add(name)
    let timer: unknown
    const never = new Promise<undefined>((resolve) => {
      timer = this.#clock.setTimeout(() => resolve(undefined), BOUND_MILLIS)
    })
    const settled = promise.catch(() => undefined).finally(() => this.#under.delete(name))
    const value = await Promise.race([settled, never])
    this.#clock.clearTimeout(timer)
    return value
  }

  /** Lets time pass. */
  async pass(millis: number): Promise<void> {
    await new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, millis))
  }

  /** Waits for something that need not come about. */
  async fact(what: string, is: () => boolean): Promise<void> {
    const until = this.#clock.now() + FACT_MILLIS
    const polled = new Promise<void>((resolve) => {
      const poll = () => (is() || this.#clock.now() > until ? resolve() : void setTimeout(poll, 2))
      poll()
    })
    await this.of(what, polled)
  }

  /** What did not settle in time. */
  get hung(): string[] {
    return [...this.#under]
  }
}
