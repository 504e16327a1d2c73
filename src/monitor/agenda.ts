interface Item<T> {
  readonly at: number
  readonly what: T
}

/** What is due when, soonest first: a binary heap, so that one timer serves ten thousand. */
export class Agenda<T> {
  readonly #heap: Item<T>[] = []

  /** When the next one is due; Infinity: none is. */
  get next(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY
  }

  add(at: number, what: T): void {
    const heap = this.#heap
    const item = { at, what }
    let index = heap.push(item) - 1
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = heap[above] as Item<T>
      if (parent.at <= at) break
      heap[index] = parent
      index = above
    }
    heap[index] = item
  }

  /** Takes the next one out, if it is due by then. */
  take(by: number): Item<T> | undefined {
    const heap = this.#heap
    const [first] = heap
    if (first === undefined || first.at > by) return undefined
    const last = heap.pop() as Item<T>
    if (last !== first) this.#sink(last)
    return first
  }

  #sink(item: Item<T>): void {
    const heap = this.#heap
    let index = 0
    for (;;) {
      let below = 2 * index + 1
      const [left, right] = [heap[below], heap[below + 1]]
      if (left === undefined) break
      if (right !== undefined && right.at < left.at) below += 1
      const child = heap[below] as Item<T>
      if (child.at >= item.at) break
      heap[index] = child
      index = below
    }
    heap[index] = item
  }
}
