/** How long anything may take to settle, in real ms. */
const BOUND_MILLIS = 8_000

/** Promises that a scenario has begun; each must settle, whatever it comes to. */
export class Outcomes {
  readonly #under = new Set<string>()
  #begun = 0

  /** Its value, or undefined if it rejects. */
  async of<T>(what: string, promise: Promise<T>): Promise<T | undefined> {
    this.#begun += 1
    const name = `${what} (${this.#begun}.)`
    this.#under.add(name)
    let timer: NodeJS.Timeout | undefined
    const never = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), BOUND_MILLIS)
    })
    const settled = promise.catch(() => undefined).finally(() => this.#under.delete(name))
    const value = await Promise.race([settled, never])
    clearTimeout(timer)
    return value
  }

  /** What did not settle in time. */
  get hung(): string[] {
    return [...this.#under]
  }
}
