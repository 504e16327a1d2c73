/** The golden ratio: steps of it around a circle fall evenly, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** Where in its interval each check begins, so that those of one interval are spread evenly over it, also as some come and go. */
export class Phases {
  readonly #counts = new Map<number, number>()

  next(intervalMillis: number): number {
    const count = this.#counts.get(intervalMillis) ?? 0
    this.#counts.set(intervalMillis, count + 1)
    return ((count * GOLDEN) % 1) * intervalMillis
  }
}
