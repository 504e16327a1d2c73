import { Duplex } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { Buffered } from '../../channels/buffered.ts'
import type { TunnelError } from '../../errors.ts'
import type { Held } from '../../owners/scope.ts'

/** One open ssh2 channel: its entry in the scope and its share of the pool's unread bytes. */
export class OwnedChannel {
  readonly stream: ClientChannel
  readonly #held: Held
  readonly #buffered: Buffered
  #unread = 0
  #isEnding = false

  constructor(stream: ClientChannel, held: Held, buffered: Buffered, gone: (channel: OwnedChannel) => void) {
    this.stream = stream
    this.#held = held
    this.#buffered = buffered
    stream.pause()
    stream.on('error', () => {
      // Told by whoever reads it; without a listener it would end the process.
    })
    const consumed = (chunk: Buffer) => this.#count(-chunk.length)
    stream.on('data', consumed)
    stream.stderr.pause()
    stream.stderr.on('data', consumed)
    stream.once('close', () => {
      this.#forget()
      gone(this)
    })
    const destroy = stream.destroy.bind(stream)
    stream.destroy = () => {
      this.#readOut()
      return destroy()
    }
  }

  /** Bytes have come in for it. */
  received(bytes: number): void {
    this.#count(bytes)
  }

  /** Asks the server to close it. */
  close(): void {
    this.#readOut()
    this.stream.close()
  }

  /** Lets what still comes run out, whoever pauses it (a pipe to a client that has gone does): ssh2 tells of the close only when all is read. */
  #readOut(): void {
    for (const readable of [this.stream, this.stream.stderr]) {
      if (!this.#isEnding) readable.on('pause', () => process.nextTick(() => readable.resume()))
      readable.resume()
    }
    this.#isEnding = true
  }

  /** Its connection is gone. ssh2 would end it as if all had been read; a reader must hear that it was not. */
  lose(error: TunnelError): void {
    Duplex.prototype.destroy.call(this.stream, error)
    this.#forget()
  }

  #count(bytes: number): void {
    this.#unread += bytes
    this.#buffered.add(bytes)
  }

  #forget(): void {
    this.#count(-this.#unread)
    this.#held.strike()
  }
}
