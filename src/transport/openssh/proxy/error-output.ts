import { Readable } from 'node:stream'

/** Error output of a command: a part of its channel's window. */
export class ErrorOutput extends Readable {
  readonly #read: () => void

  constructor(highWaterMark: number, read: () => void) {
    super({ highWaterMark })
    this.#read = read
  }

  override _read(): void {}

  override read(size?: number): Buffer | null {
    const chunk = super.read(size)
    this.#read()
    return chunk
  }
}
