import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import type { Connection, ServerChannel } from 'ssh2'
import { bridge } from './bridge.ts'
import { closeServer } from './server.ts'
import type { Sockets } from './sockets.ts'

/** Where a client wants the server to listen. */
export type Bind = { readonly bindAddr: string; readonly bindPort: number } | { readonly socketPath: string }

/** The reverse forwards of one connection. Listens on loopback whatever was asked for, as sshd does without GatewayPorts. */
export class ReverseForwards {
  readonly #connection: Connection
  readonly #sockets: Sockets
  readonly #opened: (channel: ServerChannel) => void
  readonly #servers = new Map<string, Server>()
  #isClosed = false

  constructor(connection: Connection, sockets: Sockets, opened: (channel: ServerChannel) => void) {
    this.#connection = connection
    this.#sockets = sockets
    this.#opened = opened
  }

  listen(bind: Bind, accept: (port: number) => void, reject: () => void): void {
    let port = 'bindPort' in bind ? bind.bindPort : 0
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
      this.#sockets.add(socket)
      this.#forward(bind, port, socket)
    })
    server.once('error', reject)
    const where: ListenOptions =
      'socketPath' in bind ? { path: bind.socketPath } : { host: bind.bindAddr === '::1' ? '::1' : '127.0.0.1', port }
    server.listen({ ...where, exclusive: true }, () => {
      // The connection has gone while the name was looked up.
      if (this.#isClosed) return void server.close()
      server.off('error', reject).on('error', () => {})
      if ('bindPort' in bind) port = (server.address() as AddressInfo).port
      this.#servers.set(nameOf(bind, port), server)
      accept(port)
    })
  }

  /** Whether there was one. */
  cancel(bind: Bind): boolean {
    const name = nameOf(bind, 'bindPort' in bind ? bind.bindPort : 0)
    this.#servers.get(name)?.close()
    return this.#servers.delete(name)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const servers = [...this.#servers.values()]
    this.#servers.clear()
    await Promise.all(servers.map(closeServer))
  }

  #forward(bind: Bind, port: number, socket: Socket): void {
    const answer = (error: Error | undefined, channel: ServerChannel): void => {
      if (error !== undefined) return void socket.destroy()
      this.#opened(channel)
      bridge(channel, socket)
      socket.resume()
    }
    if ('socketPath' in bind) this.#connection.openssh_forwardOutStreamLocal(bind.socketPath, answer)
    else this.#connection.forwardOut(bind.bindAddr, port, socket.remoteAddress ?? '', socket.remotePort ?? 0, answer)
  }
}

function nameOf(bind: Bind, port: number): string {
  return 'socketPath' in bind ? bind.socketPath : `${bind.bindAddr}:${port}`
}
