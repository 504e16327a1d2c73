/** As OpenSSH bounds a message of its agent (AGENT_MAX_LEN). */
export const LONGEST_FRAME = 256 * 1024

/** Cuts a stream into messages of `uint32 length, bytes`. ssh2's own reader does not skip the body of a type it does not know. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0)
  #isBroken = false

  /** The messages that are complete now; `undefined` once a length is none that an agent or its client would send. */
  push(chunk: Buffer): Buffer[] | undefined {
    if (this.#isBroken) return undefined
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    const frames: Buffer[] = []
    while (this.#pending.length >= 4) {
      const length = this.#pending.readUInt32BE()
      if (length === 0 || length > LONGEST_FRAME) {
        this.#isBroken = true
        return undefined
      }
      if (this.#pending.length < 4 + length) break
      frames.push(this.#pending.subarray(4, 4 + length))
      this.#pending = this.#pending.subarray(4 + length)
    }
    return frames
  }
}
