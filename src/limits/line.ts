/** One who stands in a line; belongs to one line at a time. */
export interface Stander<T> {
  before: T | undefined
  after: T | undefined
  isStanding: boolean
}

/** First come, first served; anyone may leave from anywhere. Linked, because taking the head of an array or a Set of thousands is not O(1). */
export class Line<T extends Stander<T>> {
  #size = 0
  #first: T | undefined
  #last: T | undefined

  get size(): number {
    return this.#size
  }

  get first(): T | undefined {
    return this.#first
  }

  join(stander: T): void {
    stander.isStanding = true
    stander.before = this.#last
    if (this.#last === undefined) this.#first = stander
    else this.#last.after = stander
    this.#last = stander
    this.#size += 1
  }

  /** False, and nothing is done, for one who does not stand in it. */
  leave(stander: T): boolean {
    if (!stander.isStanding) return false
    const { before, after } = stander
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    stander.before = undefined
    stander.after = undefined
    stander.isStanding = false
    this.#size -= 1
    return true
  }
}
