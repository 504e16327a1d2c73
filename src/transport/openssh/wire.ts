/** Length-prefixed values of SSH's wire format (RFC 4251, section 5), read one after another. Each is `undefined` once the bytes do not suffice. */
export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Whether all has been read, and nothing more than there was. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number | undefined {
    return this.#take(1)?.[0]
  }

  uint32(): number | undefined {
    return this.#take(4)?.readUInt32BE()
  }

  string(): Buffer | undefined {
    const length = this.uint32()
    return length === undefined ? undefined : this.#take(length)
  }

  text(): string | undefined {
    return this.string()?.toString('utf8')
  }

  #take(length: number): Buffer | undefined {
    const end = this.#at + length
    if (end > this.#bytes.length) {
      // Nothing after it makes sense either.
      this.#at = Number.POSITIVE_INFINITY
      return undefined
    }
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}

/** A number as SSH sends it: four bytes, the highest first. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Bytes behind their length. */
export function string(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as Buffer)
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** A positive number of any size: without leading zeros, with one where it would look negative. */
export function mpint(value: Buffer): Buffer {
  let start = 0
  while (start < value.length - 1 && value[start] === 0) start += 1
  const bare = value.subarray(start)
  return string((bare[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bare]) : bare)
}
