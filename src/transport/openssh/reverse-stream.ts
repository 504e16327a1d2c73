import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { quietly } from '../../wait.ts'
import type { ConnectionLife } from '../life.ts'

type Done = (error?: Error | null) => void

const UNBOUNDED = { signal: undefined, timeoutMillis: Number.POSITIVE_INFINITY }

/**
 * A connection that came in at the server, which the master has made to us. When the master dies its sockets end as if all had been read: an end is passed on only
 * once the master has answered after it, and the loss of the connection is this stream's error.
 */
export class ReverseStream extends Duplex {
  readonly #socket: Socket

  /** `masterLives` rejects when the master does not answer; `proven` hears that the server has sent something. */
  constructor(socket: Socket, life: ConnectionLife, masterLives: () => Promise<unknown>, proven: () => void) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    this.on('error', () => {
      // Told by whoever reads it; without a listener it would end the process.
    })
    socket.on('data', (chunk: Buffer) => {
      proven()
      if (!this.push(chunk)) socket.pause()
    })
    socket.once('end', () => {
      masterLives().then(
        () => this.push(null),
        (error) => this.destroy(life.error ?? error),
      )
    })
    socket.once('error', (error) => this.destroy(life.error ?? error))
    socket.once('close', (hadError) => {
      if (hadError || !socket.readableEnded) this.destroy(life.error)
    })
    socket.pause()
    const over = life.answer<void>(
      (settle) => this.once('close', () => settle()),
      UNBOUNDED,
      () => {
        throw new Error('there is no bound')
      },
    )
    quietly(over.catch((error) => this.destroy(error)))
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, encoding, done)
  }

  override _final(done: Done): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy()
    done(error)
  }
}
