/** Bytes that lie unread in all channels of a pool; above the bound, connections stop reading until enough of it is consumed. */
export class Buffered {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  get isOver(): boolean {
    return this.#bytes > this.#limit
  }

  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#waiting.size === 0 || this.#bytes > this.#limit * 0.75) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resume of waiting) resume()
  }

  /** Calls back once, when there is room again; the result takes that back. */
  whenRoom(resume: () => void): () => void {
    this.#waiting.add(resume)
    return () => this.#waiting.delete(resume)
  }
}
