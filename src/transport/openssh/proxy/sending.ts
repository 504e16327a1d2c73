import type { Socket } from 'node:net'

/** Unsent bytes above which channels wait. */
const MAX_UNSENT_BYTES = 1024 * 1024
/** Bytes sent after which the server is asked whether it reads, and above which nothing more is sent until it has answered. */
const ASK_AFTER_BYTES = 4 * 1024 * 1024
const MOST_UNPROVEN_BYTES = 16 * 1024 * 1024

/**
 * What a connection sends, and when its channels have to wait. The master takes whatever it is sent and keeps what the server does not take: one that
 * opens its windows wide and reads nothing would fill the master's memory. So the server is asked now and then.
 */
export class Sending {
  readonly #socket: Socket
  readonly #ask: (answered: () => void) => void
  #waiting: Array<() => void> = []
  #unproven = 0
  #isAsking = false
  #isOver = false

  /** `ask` puts a question to the server; it may call back at once. */
  constructor(socket: Socket, ask: (answered: () => void) => void) {
    this.#socket = socket
    this.#ask = ask
    socket.on('drain', () => this.#proceed())
  }

  /** Writes at once, in one piece for the kernel. */
  send(...pieces: readonly Buffer[]): void {
    const socket = this.#socket
    if (this.#isOver || !socket.writable) return
    if (pieces.length > 1) socket.cork()
    for (const piece of pieces) {
      socket.write(piece)
      this.#unproven += piece.length
    }
    if (pieces.length > 1) socket.uncork()
    if (this.#unproven > ASK_AFTER_BYTES && !this.#isAsking) this.#prove()
  }

  get isCongested(): boolean {
    const { writableLength, writableHighWaterMark } = this.#socket
    // 'drain' comes only after a write above the stream's own mark.
    return writableLength > Math.max(MAX_UNSENT_BYTES, writableHighWaterMark) || this.#unproven > MOST_UNPROVEN_BYTES
  }

  /** Calls back when no more than may be is unsent; at once, if so. */
  whenWritable(go: () => void): void {
    if (this.isCongested) this.#waiting.push(go)
    else go()
  }

  /** The connection is gone, and with it whatever waits. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
  }

  #prove(): void {
    const sent = this.#unproven
    this.#isAsking = true
    this.#ask(() => {
      this.#unproven -= sent
      this.#isAsking = false
      this.#proceed()
    })
  }

  #proceed(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) this.whenWritable(go)
  }
}
