/** The last bytes of a stream, bounded, as text. */
export class Tail {
  readonly #most: number
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(mostBytes: number) {
    this.#most = mostBytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk.length > this.#most ? chunk.subarray(-this.#most) : chunk)
    this.#bytes += Math.min(chunk.length, this.#most)
    // Joined now and then, so that neither a flood of bytes nor one of tiny chunks grows.
    if (this.#bytes > 2 * this.#most || this.#chunks.length > 64) this.#join()
  }

  clear(): void {
    this.#chunks = []
    this.#bytes = 0
  }

  text(): string {
    this.#join()
    return this.#chunks[0]?.toString('utf8') ?? ''
  }

  #join(): void {
    // Copied: a small piece must not hold on to the large buffer that it came in.
    const all = Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#most))
    this.#chunks = [all]
    this.#bytes = all.length
  }
}
