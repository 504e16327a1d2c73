import type { Duplex } from 'node:stream'
import type { Buffered } from '../channels/buffered.ts'

/**
 * When a connection reads. Above the pool's bound one that has unread bytes itself stops, until there is room: TCP then holds the server
 * back. While the server owes us an answer it goes on: what comes meanwhile is bounded by the windows, and a question that is not heard
 * answered would cost the connection.
 */
export class Reading {
  readonly #stream: Duplex
  readonly #buffered: Buffered
  #unread = 0
  #questions = 0
  #takeBack: (() => void) | undefined
  #isOver = false

  constructor(stream: Duplex, buffered: Buffered) {
    this.#stream = stream
    this.#buffered = buffered
  }

  /** Silence proves nothing then. */
  get isPaused(): boolean {
    return this.#takeBack !== undefined
  }

  /** So many more bytes lie unread in its channels; fewer, when negative. */
  count(bytes: number): void {
    this.#unread += bytes
    this.#buffered.add(bytes)
    this.decide()
  }

  /** The server is asked something; the result says that it has answered, or need not any more. */
  question(): () => void {
    this.#questions += 1
    this.decide()
    return () => {
      this.#questions -= 1
      this.decide()
    }
  }

  decide(): void {
    const mayRead = this.#isOver || this.#questions > 0 || this.#unread <= 0 || !this.#buffered.isOver
    if (!mayRead && !this.isPaused) {
      this.#stream.pause()
      this.#takeBack = this.#buffered.whenRoom(() => this.#resume())
    } else if (this.isPaused && (this.#isOver || this.#questions > 0 || this.#unread <= 0)) this.#resume()
  }

  /** The connection is gone. */
  end(): void {
    this.#isOver = true
    this.decide()
  }

  #resume(): void {
    this.#takeBack?.()
    this.#takeBack = undefined
    if (!this.#isOver) this.#stream.resume()
  }
}
