import { type AddressInfo, createServer, type Socket } from 'node:net'
import { closeServer } from '../../src/testing/server.ts'
import { Sockets } from '../../src/testing/sockets.ts'

/** A TCP server, half-open capable, that does with each connection what it is told. */
export interface TcpServer extends AsyncDisposable {
  readonly port: number
  /** Connections now. */
  readonly open: number
  /** Accepted since the start, the latest last. */
  readonly accepted: readonly Socket[]
}

/** Listens, on any free port of 127.0.0.1 unless told otherwise, and hands every connection to `serve`. */
export async function startTcpServer(
  serve: (socket: Socket) => void,
  options: { port?: number; host?: string } = {},
): Promise<TcpServer> {
  const sockets = new Sockets()
  const accepted: Socket[] = []
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    accepted.push(sockets.add(socket))
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return sockets.size
    },
    accepted,
    [Symbol.asyncDispose]: async () => void (await Promise.all([closeServer(server), sockets.close()])),
  }
}

/** Sends back what it gets. */
export const echo = (socket: Socket): void => void socket.pipe(socket)
