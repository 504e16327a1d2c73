import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type HeldPort, holdPort } from './port.ts'
import { closeServer } from './server.ts'

/** Between attempts to listen again on a port that somebody took. */
const RETRY_MILLIS = 10

/** A listener on 127.0.0.1 that can be shut, so that connects are refused, and opened again on its port. */
export class Door {
  readonly port: number
  readonly #accept: (socket: Socket) => void
  #server: Server | undefined
  #held: HeldPort | undefined
  #retry: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(server: Server, port: number, accept: (socket: Socket) => void) {
    this.#server = server
    this.port = port
    this.#accept = accept
  }

  /** Listens on a free port. What it accepts is half-open capable, sends without delay and is not its concern any more. */
  static open(accept: (socket: Socket) => void): Promise<Door> {
    const server = listener(accept)
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: '127.0.0.1', port: 0, exclusive: true }, () => {
        server.off('error', reject)
        // No descriptor left to accept with: the peer waits, as it would for any server.
        server.on('error', () => {})
        resolve(new Door(server, (server.address() as AddressInfo).port, accept))
      })
    })
  }

  shut(): void {
    if (this.#isClosed) return
    clearTimeout(this.#retry)
    this.#server?.close()
    this.#server = undefined
    this.#held ??= holdPort(this.port)
  }

  /** Listens again; if the port is taken after all, as soon as it is free. */
  reopen(): void {
    if (this.#isClosed || this.#server !== undefined) return
    const server = listener(this.#accept)
    this.#server = server
    server.on('error', () => {
      if (this.#server !== server || server.listening) return
      this.#server = undefined
      this.#retry = setTimeout(() => this.reopen(), RETRY_MILLIS)
    })
    server.listen({ host: '127.0.0.1', port: this.port, exclusive: true }, () => {
      if (this.#server !== server) return void server.close()
      void this.#release()
    })
  }

  /** Resolves when the listener is gone and, since a server waits for them, all it has accepted. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    const server = this.#server
    this.#server = undefined
    await Promise.all([this.#release(), server && closeServer(server)])
  }

  async #release(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    await held?.release()
  }
}

function listener(accept: (socket: Socket) => void): Server {
  return createServer({ noDelay: true, allowHalfOpen: true }, accept)
}
