import { Duplex, type Readable } from 'node:stream'
import type { TunnelError } from '../../../errors.ts'
import { ErrorOutput } from './error-output.ts'
import {
  adjustMessage,
  closeMessage,
  type DataKind,
  eofMessage,
  MAX_PACKET_BYTES,
  requestMessage,
  WINDOW_BYTES,
} from './messages.ts'
import { Outflow } from './outflow.ts'
import type { Sending } from './sending.ts'

/** The window is opened again in pieces of this, and not for every packet. */
const GRANT_BYTES = WINDOW_BYTES / 4

type Done = (error?: Error | null) => void

/** What a channel needs of its connection. */
export interface Wire {
  readonly sending: Sending
  /** So many more bytes lie unread in the channel; fewer, when negative. */
  unread(bytes: number): void
  /** The other side has closed it and nothing of it lies here, or the connection is gone. */
  gone(): void
}

/** How the other side opened its end. */
export interface Confirmation {
  readonly sender: number
  readonly window: number
  readonly maxPacket: number
}

/**
 * One channel of SSH's connection layer (RFC 4254, section 5), paused until it is read. The window is opened as the reader consumes, and only then. When the other side
 * closes it, what lies here can still be read, and then it closes; when the connection is lost it fails with the reason.
 */
export class ProxyChannel extends Duplex {
  readonly id: number
  readonly #wire: Wire
  readonly #sender: number
  readonly #outflow: Outflow
  #stderr: ErrorOutput | undefined
  /** Bytes the other side may still send. */
  #ourWindow = WINDOW_BYTES
  #unread = 0
  #hasEof = false
  #hasClosed = false
  #wasClosed = false
  #isGone = false
  #gone: () => void = () => {}
  #asked: Array<(isDone: boolean | undefined) => void> = []

  /** `isCommand`: after both ends of data, how it ended is still to come, and then the other side closes it. Any other channel is closed then. */
  constructor(id: number, { sender, window, maxPacket }: Confirmation, isCommand: boolean, wire: Wire) {
    super({ allowHalfOpen: true, readableHighWaterMark: WINDOW_BYTES, autoDestroy: !isCommand })
    this.id = id
    this.#sender = sender
    this.#outflow = new Outflow(sender, window, Math.min(maxPacket, MAX_PACKET_BYTES), wire.sending)
    this.#wire = wire
    this.on('error', () => {
      // Told by whoever reads it; without a listener it would end the process.
    })
  }

  /** What a command says there. Only those who read it hear it. */
  get stderr(): Readable {
    if (this.#stderr === undefined) {
      this.#stderr = new ErrorOutput(WINDOW_BYTES, () => this.#settle())
      if (this.#hasEof) this.#stderr.push(null)
      if (this.destroyed) this.#stderr.destroy()
    }
    return this.#stderr
  }

  /** The number by which the other side knows it. */
  get sender(): number {
    return this.#sender
  }

  /** Whether either side has closed it. */
  get isClosing(): boolean {
    return this.#hasClosed || this.#wasClosed
  }

  /** Closes it, and resolves when the other side has done so, too, or the connection is gone. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      this.#gone = resolve
      this.destroy()
      if (this.#isGone) resolve()
    })
  }

  /** Asks the other side something (RFC 4254, section 5.4); `undefined` is the answer of a channel that was closed first. */
  ask(name: string, details: readonly Buffer[], answered: (isDone: boolean | undefined) => void): void {
    if (this.isClosing) answered(undefined)
    else {
      this.#asked.push(answered)
      this.#wire.sending.send(requestMessage(this.#sender, name, true, details))
    }
  }

  /** Tells the other side something that needs no answer. */
  tell(name: string, details: readonly Buffer[]): void {
    if (!this.isClosing) this.#wire.sending.send(requestMessage(this.#sender, name, false, details))
  }

  /** The answer to the oldest question; false when nothing was asked. */
  receiveAnswer(isDone: boolean): boolean {
    const answered = this.#asked.shift()
    answered?.(isDone)
    return answered !== undefined
  }

  /** Takes bytes, unless they come after the end, or are a whole window more than we let it send; the result is what is wrong with them. */
  receive(data: Buffer, kind: DataKind): string | undefined {
    this.#ourWindow -= data.length
    if (this.#hasEof) return 'sent more after the end of its data'
    if (this.#ourWindow < -WINDOW_BYTES) return 'sent more than the window of a channel allows'
    const readable = this.#readableOf(kind)
    if (readable?.destroyed === false && !this.#hasClosed) {
      const isReadAtOnce = readable.readableFlowing === true && readable.readableLength === 0
      // Its frame may be a small part of a large piece of memory, which would be held as long as it lies here.
      readable.push(isReadAtOnce ? data : Buffer.from(data))
    }
    this.#settle()
    return undefined
  }

  /** What was said before the close is still heard, on whichever stream that ends last. */
  #closeWhenRead(): void {
    const unread = [this, this.#stderr].find((readable) => readable?.readableEnded === false && !readable.destroyed)
    if (unread === undefined) this.destroy()
    else unread.once('end', () => this.#closeWhenRead())
  }

  #readableOf(kind: DataKind): Readable | undefined {
    if (kind === 'output') return this
    return kind === 'error' ? this.#stderr : undefined
  }

  /** The other side may take more; false when it says so beyond measure. */
  widen(bytes: number): boolean {
    return this.#outflow.widen(bytes)
  }

  /** The other side sends no more. */
  receiveEof(): void {
    if (this.#hasEof) return
    this.#hasEof = true
    this.push(null)
    this.#stderr?.push(null)
  }

  /** The other side has closed it. */
  receiveClose(): void {
    if (this.#wasClosed) return
    this.#wasClosed = true
    this.receiveEof()
    this.#sendClose()
    this.#outflow.end()
    this.#leaveUnanswered()
    if (this.destroyed) this.#depart()
    else this.#closeWhenRead()
  }

  /** Its connection is gone. */
  lose(error: TunnelError): void {
    this.#hasClosed = true
    this.#outflow.end()
    this.#stderr?.destroy()
    this.destroy(error)
    this.#depart()
  }

  override read(size?: number): Buffer | null {
    const chunk = super.read(size)
    this.#settle()
    return chunk
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (!this.isClosing) this.#outflow.write(chunk, done)
  }

  override _final(done: Done): void {
    if (!this.#hasClosed && !this.#wasClosed) this.#wire.sending.send(eofMessage(this.#sender))
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#sendClose()
    this.#outflow.end()
    this.#report(0)
    this.#stderr?.destroy()
    if (this.#wasClosed) this.#depart()
    done(error)
  }

  /** Counts what lies unread, and lets the other side send as much more as was read. */
  #settle(): void {
    if (this.#isGone) return
    const unread = this.destroyed ? 0 : this.readableLength + (this.#stderr?.readableLength ?? 0)
    this.#report(unread)
    const grant = WINDOW_BYTES - this.#ourWindow - unread
    if (grant < GRANT_BYTES || this.#hasEof || this.#hasClosed) return
    this.#ourWindow += grant
    this.#wire.sending.send(adjustMessage(this.#sender, grant))
  }

  #report(unread: number): void {
    const change = unread - this.#unread
    this.#unread = unread
    if (change !== 0) this.#wire.unread(change)
  }

  #sendClose(): void {
    if (this.#hasClosed) return
    this.#hasClosed = true
    this.#wire.sending.send(closeMessage(this.#sender))
  }

  #depart(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#leaveUnanswered()
    this.#wire.gone()
    this.#gone()
  }

  #leaveUnanswered(): void {
    for (const answered of this.#asked.splice(0)) answered(undefined)
  }
}
