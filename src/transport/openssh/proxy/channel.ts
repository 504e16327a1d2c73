import { Duplex, type Readable } from 'node:stream'
import type { TunnelError } from '../../../errors.ts'
import { ErrorOutput } from './error-output.ts'
import { adjustMessage, closeMessage, dataHead, eofMessage, MAX_PACKET_BYTES, requestMessage, WINDOW_BYTES } from './messages.ts'

/** The window is opened again in pieces of this, and not for every packet. */
const GRANT_BYTES = WINDOW_BYTES / 4
/** A window never grows above this (RFC 4254, section 5.2). */
const MOST_WINDOW = 2 ** 32 - 1

type Done = (error?: Error | null) => void

/** What a channel needs of its connection. */
export interface Wire {
  send(...pieces: readonly Buffer[]): void
  /** Calls back when so much has been sent that more may be; at once, if it may now. */
  whenWritable(go: () => void): void
  /** So many more bytes lie unread in the channel; fewer, when negative. */
  unread(bytes: number): void
  /** The server has confirmed the close, or the connection is gone. */
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
  readonly #maxPacket: number
  #theirWindow: number
  #stderr: ErrorOutput | undefined
  /** Bytes the other side may still send. */
  #ourWindow = WINDOW_BYTES
  #unread = 0
  #hasEof = false
  #hasClosed = false
  #wasClosed = false
  #isGone = false
  #asked: Array<(isDone: boolean | undefined) => void> = []
  #waiting: { chunk: Buffer; done: Done } | undefined

  /** `isCommand`: after both ends of data, how it ended is still to come, and then the other side closes it. Any other channel is closed then. */
  constructor(id: number, { sender, window, maxPacket }: Confirmation, isCommand: boolean, wire: Wire) {
    super({ allowHalfOpen: true, readableHighWaterMark: WINDOW_BYTES, autoDestroy: !isCommand })
    this.id = id
    this.#sender = sender
    this.#theirWindow = window
    // Nobody may make us send packets of nothing for ever.
    this.#maxPacket = Math.max(1024, Math.min(maxPacket, MAX_PACKET_BYTES))
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

  /** Asks the other side something (RFC 4254, section 5.4); `undefined` is the answer of a channel that was closed first. */
  ask(name: string, details: readonly Buffer[], answered: (isDone: boolean | undefined) => void): void {
    if (this.isClosing) answered(undefined)
    else {
      this.#asked.push(answered)
      this.#wire.send(requestMessage(this.#sender, name, true, details))
    }
  }

  /** Tells the other side something that needs no answer. */
  tell(name: string, details: readonly Buffer[]): void {
    if (!this.isClosing) this.#wire.send(requestMessage(this.#sender, name, false, details))
  }

  /** The answer to the oldest question; false when nothing was asked. */
  receiveAnswer(isDone: boolean): boolean {
    const answered = this.#asked.shift()
    answered?.(isDone)
    return answered !== undefined
  }

  /** Takes bytes; false when there were more than we let it send. */
  receive(data: Buffer, isError: boolean): boolean {
    if (this.#hasEof || data.length > this.#ourWindow) return false
    this.#ourWindow -= data.length
    const readable = isError ? this.#stderr : this
    // Its frame may be a small part of a large piece of memory, which would be held as long as it lies here.
    if (readable?.destroyed === false && !this.#hasClosed) readable.push(readable.readableFlowing ? data : Buffer.from(data))
    this.#settle()
    return true
  }

  /** The other side may take more; false when it says so beyond measure. */
  widen(bytes: number): boolean {
    this.#theirWindow += bytes
    if (this.#theirWindow > MOST_WINDOW) return false
    this.#proceed()
    return true
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
    this.#waiting = undefined
    this.#depart()
    const finish = () => this.destroy()
    if (this.readableEnded || this.destroyed) finish()
    else this.once('end', finish)
  }

  /** Its connection is gone. */
  lose(error: TunnelError): void {
    this.#hasClosed = true
    this.#waiting = undefined
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
    this.#waiting = { chunk, done }
    this.#proceed()
  }

  override _final(done: Done): void {
    if (!this.#hasClosed && !this.#wasClosed) this.#wire.send(eofMessage(this.#sender))
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#sendClose()
    this.#waiting = undefined
    this.#report(0)
    this.#stderr?.destroy()
    done(error)
  }

  /** Sends as much as the other side's window and the connection allow. */
  #proceed(): void {
    const waiting = this.#waiting
    if (waiting === undefined || this.#theirWindow === 0 || this.#hasClosed) return
    this.#wire.whenWritable(() => {
      if (this.#waiting !== waiting || this.#hasClosed) return
      let { chunk } = waiting
      while (chunk.length > 0 && this.#theirWindow > 0) {
        const piece = chunk.subarray(0, Math.min(chunk.length, this.#theirWindow, this.#maxPacket))
        this.#theirWindow -= piece.length
        this.#wire.send(dataHead(this.#sender, piece.length), piece)
        chunk = chunk.subarray(piece.length)
      }
      if (chunk.length > 0) {
        waiting.chunk = chunk
        return
      }
      this.#waiting = undefined
      waiting.done()
    })
  }

  /** Counts what lies unread, and lets the other side send as much more as was read. */
  #settle(): void {
    if (this.#isGone) return
    const unread = this.destroyed ? 0 : this.readableLength + (this.#stderr?.readableLength ?? 0)
    this.#report(unread)
    const grant = WINDOW_BYTES - this.#ourWindow - unread
    if (grant < GRANT_BYTES || this.#hasEof || this.#hasClosed) return
    this.#ourWindow += grant
    this.#wire.send(adjustMessage(this.#sender, grant))
  }

  #report(unread: number): void {
    const change = unread - this.#unread
    this.#unread = unread
    if (change !== 0) this.#wire.unread(change)
  }

  #sendClose(): void {
    if (this.#hasClosed) return
    this.#hasClosed = true
    this.#wire.send(closeMessage(this.#sender))
  }

  #depart(): void {
    if (this.#isGone) return
    this.#isGone = true
    for (const answered of this.#asked.splice(0)) answered(undefined)
    this.#wire.gone()
  }
}
