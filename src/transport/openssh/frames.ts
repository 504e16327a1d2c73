/**
 * Cuts a stream into frames of `uint32 length, bytes` and calls `take` for each, which may say that it wants no more. A frame that came in one piece is not copied;
 * a length that no peer of good faith sends is told once, as `false`, and nothing after it is looked at.
 */
export class FrameCutter {
  readonly #longestBytes: number
  readonly #take: (frame: Buffer) => void
  /** Pieces of a frame that is not complete, its length first. */
  #pieces: Buffer[] = []
  #bytes = 0
  #isBroken = false

  constructor(longestBytes: number, take: (frame: Buffer) => void) {
    this.#longestBytes = longestBytes
    this.#take = take
  }

  /** Bytes that wait for the rest of their frame. */
  get pendingBytes(): number {
    return this.#bytes
  }

  /** What was not looked at; taken from here. */
  takeRest(): Buffer {
    const rest = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#bytes = 0
    return rest
  }

  /** Takes nothing more from what was pushed: the rest is for somebody else, and kept for `takeRest`. */
  stop(): void {
    this.#isStopped = true
  }
  #isStopped = false

  /** Whether all of it made sense so far. */
  push(chunk: Buffer): boolean {
    if (this.#isBroken) return false
    this.#pieces.push(chunk)
    this.#bytes += chunk.length
    while (!this.#isStopped && this.#bytes >= 4) {
      const length = this.#head()
      if (length === 0 || length > this.#longestBytes) {
        this.#isBroken = true
        this.#pieces = []
        this.#bytes = 0
        return false
      }
      if (this.#bytes < 4 + length) break
      const all = this.#joined()
      this.#pieces = all.length > 4 + length ? [all.subarray(4 + length)] : []
      this.#bytes -= 4 + length
      this.#take(all.subarray(4, 4 + length))
    }
    return true
  }

  #head(): number {
    const [first] = this.#pieces
    if (first !== undefined && first.length >= 4) return first.readUInt32BE()
    return this.#joined().readUInt32BE()
  }

  #joined(): Buffer {
    const [first] = this.#pieces
    if (this.#pieces.length === 1 && first !== undefined) return first
    const all = Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }
}
