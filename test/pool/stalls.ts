import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Target } from '../../src/api/target.ts'

type Connect = NonNullable<Target['connect']>

/** A stream over a socket that passes on only so many bytes from the server. */
class Stalling extends Duplex {
  readonly #socket: Socket
  #left: number

  constructor(socket: Socket, bytes: number) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    this.#left = bytes
    socket.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, Math.max(0, this.#left))
      this.#left -= chunk.length
      if (passed.length > 0) this.push(passed)
    })
    socket.on('error', () => {})
    socket.on('close', () => this.destroy())
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#socket.writable) this.#socket.write(chunk)
    done()
  }

  override _final(done: () => void): void {
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/** As the pool itself would connect. */
export const dialTcp = ({ host, port, signal }: Parameters<Connect>[0]): Promise<Socket> => {
  const socket = connect({ host, port, noDelay: true })
  return new Promise<Socket>((resolve, reject) => {
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
    signal.addEventListener('abort', () => socket.destroy(signal.reason), { once: true })
  })
}

/** The server's identification comes through, its key exchange does not. */
export const stallAtKex: Connect = async (to) => new Stalling(await dialTcp(to), 60)

/** A stream whose owner can do nothing to end it, until the test does. */
export class Undying extends Duplex {
  readonly #socket: Socket
  destroyCalls = 0

  constructor(socket: Socket) {
    super({ allowHalfOpen: true, emitClose: false, autoDestroy: false })
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.push(chunk))
    socket.on('error', () => {})
  }

  static async dial(to: Parameters<Connect>[0]): Promise<Undying> {
    return new Undying(await dialTcp(to))
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#socket.write(chunk)
    done()
  }

  override destroy(): this {
    this.destroyCalls += 1
    return this
  }

  /** Ends it at last. */
  die(): void {
    this.#socket.destroy()
    this.emit('close')
  }
}
