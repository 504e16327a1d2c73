import { Duplex } from 'node:stream'
import type { TunnelSocket } from '../api/lease.ts'
import { TunnelError } from '../errors.ts'
import { quietly } from '../wait.ts'

/** Where a socket's bytes come from: rejects when there will be none, and then has freed what it made. */
export type OpenStream = (signal: AbortSignal) => Promise<Duplex>

type Written = (error?: Error | null) => void

export interface ChannelSocketOptions {
  readonly open: OpenStream
  /** What the socket leads to, for `remoteAddress`. */
  readonly remoteAddress: string | undefined
  /** Whether a socket that is not unref'ed holds the process. */
  readonly hold?: ((isHeld: boolean) => void) | undefined
}

/**
 * A stream through a tunnel as node:http, undici and database drivers expect a socket to be; ssh2's own channels lack `setTimeout`, `ref`
 * and the rest, and end without an error when their connection is lost. It may be written to at once: what is written waits for the channel.
 * When the server ends, it ends, too, as a socket of node:net does: agents and drivers wait for its 'close'. Who wants to go on writing says
 * `allowHalfOpen = true` before.
 */
export class ChannelSocket extends Duplex implements TunnelSocket {
  readonly remoteAddress: string | undefined
  connecting = true
  /** Resolves with the socket itself when it is open; rejects with why it will not be. */
  readonly whenOpen: Promise<this>
  #inner: Duplex | undefined
  /** What is attached may be replaced by another: nothing has been sent on it since. */
  #isReplaceable = false
  #pendingWrite: (() => void) | undefined
  /** Calls back for the write that is under way; who waits for it would wait for ever otherwise. */
  #written: Written | undefined
  #idleTimer: NodeJS.Timeout | undefined
  readonly #opening = new AbortController()
  readonly #open: OpenStream
  readonly #hold: ((isHeld: boolean) => void) | undefined

  constructor({ open, remoteAddress, hold }: ChannelSocketOptions) {
    super({ allowHalfOpen: false })
    this.#open = open
    this.remoteAddress = remoteAddress
    this.#hold = hold
    this.whenOpen = new Promise((resolve, reject) => {
      const failed = () => reject(this.errored ?? new TunnelError('ERR_ABORTED', 'the socket was destroyed before it was open'))
      this.once('close', failed)
      this.once('connect', () => {
        this.off('close', failed)
        resolve(this)
      })
    })
    quietly(this.whenOpen)
    // Callers that only look at a promise never listen here.
    this.on('error', () => {})
    this.#begin()
  }

  #begin(): void {
    // It may throw instead.
    new Promise<Duplex>((resolve) => resolve(this.#open(this.#opening.signal))).then(
      (inner) => this.#attach(inner),
      (error) => this.destroy(error),
    )
  }

  /** From here on, until something is sent, a stream that ends or fails is replaced by a fresh one, unseen. */
  replaceInner(): void {
    this.#isReplaceable = true
  }

  /** Takes `replaceInner` back. */
  keepInner(): void {
    this.#isReplaceable = false
  }

  /** Whether a stream has told its end and is not this socket's any more. */
  #isReplaced(inner: Duplex): boolean {
    if (inner !== this.#inner) return true
    if (!this.#isReplaceable || this.destroyed) return false
    this.#isReplaceable = false
    this.#inner = undefined
    inner.resume()
    inner.destroy()
    this.#begin()
    return true
  }

  #attach(inner: Duplex): void {
    if (this.destroyed) {
      inner.resume()
      inner.destroy()
      return
    }
    this.#inner = inner
    inner.on('data', (chunk: Buffer) => {
      if (inner !== this.#inner) return
      this.#active()
      // What still comes after the end must run out: ssh2 tells of the close only when all is read.
      if (!this.push(chunk) && !this.destroyed) inner.pause()
    })
    inner.on('end', () => {
      if (!this.#isReplaced(inner)) this.push(null)
    })
    inner.on('error', (error) => {
      if (!this.#isReplaced(inner)) this.destroy(error)
    })
    inner.on('close', () => {
      if (this.#isReplaced(inner)) return
      if (inner.readableEnded) this.#finish()
      else this.destroy(new TunnelError('ERR_LOST', 'the channel was closed in the middle of its data'))
    })
    this.#active()
    if (this.connecting) {
      this.connecting = false
      this.emit('connect')
      this.emit('ready')
    }
    this.#pendingWrite?.()
    this.#pendingWrite = undefined
    inner.resume()
  }

  /** The other end has closed the channel: nothing can be written any more, what was read may still be consumed. */
  #finish(): void {
    const unsent = this.writableLength
    if (unsent === 0 && !this.writableEnded) this.end()
    const cause =
      unsent === 0
        ? undefined
        : new TunnelError('ERR_CHANNEL_REFUSED', `the server has closed the channel; ${unsent} bytes written were not sent`)
    if (this.readableEnded) this.destroy(cause)
    // Who only writes would never hear of it.
    else if (unsent > 0 && this.readableLength === 0 && this.readableFlowing !== true) setImmediate(() => this.destroy(cause))
    else this.once('end', () => this.destroy(cause))
  }

  override _read(): void {
    this.#inner?.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: Written): void {
    this.#active()
    this.#written = done
    if (this.#inner === undefined) this.#pendingWrite = () => this.#pass(this.#inner as Duplex, chunk, encoding)
    else this.#pass(this.#inner, chunk, encoding)
  }

  #pass(inner: Duplex, chunk: Buffer, encoding: BufferEncoding): void {
    const done = this.#written
    if (this.#isReplaceable && (inner.destroyed || !inner.writable) && this.#isReplaced(inner)) {
      this.#pendingWrite = () => this.#pass(this.#inner as Duplex, chunk, encoding)
      return
    }
    this.#isReplaceable = false
    // ssh2 never calls back for a write to a channel that the server has closed.
    if (inner.destroyed || !inner.writable)
      this.#settle(done, new TunnelError('ERR_CHANNEL_REFUSED', 'the server has closed the channel'))
    else inner.write(chunk, encoding, (error) => this.#settle(done, error))
  }

  #settle(done: Written | undefined, error?: Error | null): void {
    if (done === undefined || done !== this.#written) return
    this.#written = undefined
    done(error)
  }

  override _final(done: (error?: Error | null) => void): void {
    const inner = this.#inner
    if (inner === undefined) this.#pendingWrite = () => this._final(done)
    else if (inner.destroyed || !inner.writable) done()
    else {
      inner.end()
      done()
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#idleTimer)
    this.connecting = false
    const inner = this.#inner
    // An error costs a stack trace: most sockets are destroyed when there is nobody to be given one.
    const cause = () => error ?? new TunnelError('ERR_ABORTED', 'the socket was destroyed')
    if (inner === undefined) this.#opening.abort(cause())
    else if (!inner.destroyed) {
      inner.resume()
      inner.destroy()
    }
    this.#pendingWrite = undefined
    if (this.#written !== undefined) this.#settle(this.#written, cause())
    done(error)
  }

  /** Emits 'connect' when it is open, again if it is already: database drivers call it and wait. */
  connect(..._ignored: unknown[]): this {
    if (!this.connecting && !this.destroyed) process.nextTick(() => this.emit('connect'))
    return this
  }

  setTimeout(millis: number, listener?: () => void): this {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = undefined
    if (millis > 0 && millis < 2 ** 31 && !this.destroyed)
      this.#idleTimer = setTimeout(() => this.emit('timeout'), millis).unref()
    if (listener !== undefined && millis === 0) this.off('timeout', listener)
    else if (listener !== undefined) this.once('timeout', listener)
    return this
  }

  /** Restarts the idle time, which like a socket's only tells, and ends nothing. */
  #active(): void {
    this.#idleTimer?.refresh()
  }

  /** The tunnel's own socket is set to send without delay; per channel there is nothing to set. */
  setNoDelay(): this {
    return this
  }

  /** Keepalives belong to the tunnel. */
  setKeepAlive(): this {
    return this
  }

  ref(): this {
    this.#hold?.(true)
    return this
  }

  unref(): this {
    this.#hold?.(false)
    return this
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
}
