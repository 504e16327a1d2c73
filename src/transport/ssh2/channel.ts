import { Duplex, type Readable } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { TunnelError } from '../../errors.ts'
import type { Held } from '../../owners/scope.ts'
import { beFrugal } from './frugal.ts'
import { WINDOW_BYTES } from './guard.ts'
import type { InnerChannel } from './insides.ts'

/** What a channel reports to its connection. */
export interface Reports {
  /** So many more of its bytes lie unread; fewer, when negative. */
  readonly unread: (bytes: number) => void
  readonly gone: () => void
}

/** One open ssh2 channel: its entry in the scope and its unread bytes. */
export class OwnedChannel {
  readonly stream: ClientChannel
  readonly #held: Held
  readonly #reports: Reports
  #unread = 0
  #isEnding = false

  constructor(stream: ClientChannel, held: Held, reports: Reports) {
    this.stream = stream
    this.#held = held
    this.#reports = reports
    stream.on('error', () => {
      // Told by whoever reads it; without a listener it would end the process.
    })
    for (const readable of [stream, stream.stderr as Readable]) {
      beFrugal(readable)
      readable.pause()
      readable.on('data', () => this.count())
    }
    stream.once('close', () => this.#forget())
    const destroy = stream.destroy.bind(stream)
    stream.destroy = () => {
      this.#readOut()
      return destroy()
    }
    this.count()
  }

  /** Bytes have come in, or were read: counts what lies there now, because ssh2 drops some without a word. */
  count(): void {
    if (this.#held.isGone) return
    this.#report(this.stream.readableLength + this.stream.stderr.readableLength)
  }

  /** Asks the server to close it. */
  close(): void {
    this.#readOut()
    this.stream.close()
  }

  /** Its connection is gone. ssh2 would end it as if all had been read; a reader must hear that it was not. */
  lose(error: TunnelError): void {
    Duplex.prototype.destroy.call(this.stream, error)
    this.#forget()
  }

  /**
   * Lets what lies here run out, whoever pauses it (a pipe to a client that has gone does): ssh2 tells of the close only when all is read. A
   * window that is full is not opened for it: after a close the server may have given the channel's number to another one.
   */
  #readOut(): void {
    const { incoming } = this.stream as unknown as InnerChannel
    incoming.window = WINDOW_BYTES
    for (const readable of [this.stream, this.stream.stderr]) {
      if (!this.#isEnding) readable.on('pause', () => process.nextTick(() => readable.resume()))
      readable.resume()
    }
    this.#isEnding = true
  }

  #report(unread: number): void {
    const change = unread - this.#unread
    this.#unread = unread
    if (change !== 0) this.#reports.unread(change)
  }

  #forget(): void {
    if (this.#held.isGone) return
    this.#report(0)
    this.#held.strike()
    this.#reports.gone()
  }
}
