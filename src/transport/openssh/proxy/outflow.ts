import { dataHead } from './messages.ts'
import type { Sending } from './sending.ts'

/** A window never grows above this (RFC 4254, section 5.2). */
const MOST_WINDOW = 2 ** 32 - 1

type Done = () => void

/** What one channel sends: within the other side's window, in packets of its size, and only while its connection is not congested. */
export class Outflow {
  readonly #to: number
  readonly #maxPacket: number
  readonly #sending: Sending
  #window: number
  #waiting: { chunk: Buffer; done: Done } | undefined
  /** Waits for its turn: once, however often the window is opened meanwhile. */
  #isQueued = false

  /** `to`: the number by which the other side knows the channel. */
  constructor(to: number, window: number, maxPacket: number, sending: Sending) {
    this.#to = to
    this.#window = window
    this.#maxPacket = maxPacket
    this.#sending = sending
  }

  /** Sends all of it, piece by piece, and then calls back; one at a time. */
  write(chunk: Buffer, done: Done): void {
    this.#waiting = { chunk, done }
    this.#proceed()
  }

  /** The other side may take more; false when it says so beyond measure. */
  widen(bytes: number): boolean {
    this.#window += bytes
    if (this.#window > MOST_WINDOW) return false
    this.#proceed()
    return true
  }

  /** Nothing more is sent; what waits is not called back. */
  end(): void {
    this.#waiting = undefined
  }

  #proceed(): void {
    if (this.#waiting === undefined || this.#window === 0 || this.#isQueued) return
    this.#isQueued = true
    this.#sending.whenWritable(() => {
      this.#isQueued = false
      const waiting = this.#waiting
      if (waiting === undefined) return
      while (waiting.chunk.length > 0 && this.#window > 0 && !this.#sending.isCongested) {
        const { chunk } = waiting
        const piece = chunk.subarray(0, Math.min(chunk.length, this.#window, this.#maxPacket))
        this.#window -= piece.length
        waiting.chunk = chunk.subarray(piece.length)
        this.#sending.send(dataHead(this.#to, piece.length), piece)
      }
      if (waiting.chunk.length > 0) return this.#proceed()
      this.#waiting = undefined
      waiting.done()
    })
  }
}
