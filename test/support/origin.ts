import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeServer } from '../../src/testing/server.ts'
import { Sockets } from '../../src/testing/sockets.ts'

/** TARGET of the fault catalogue: what tunnels lead to. */
export interface Origin extends AsyncDisposable {
  readonly host: string
  /**
   * HTTP: `/health` is 200 `ok`, `/bytes/N` that many bytes, `/status/N` that status, `/hang` no answer; anything else echoes the request's body.
   */
  readonly port: number
  /** TCP that answers with all it was sent, and only after the FIN. */
  readonly halfClosePort: number
  /** The HTTP server on `[::1]`; with `ipv6`. */
  readonly ipv6Port: number | undefined
  /** The HTTP server on a unix socket; with `unix`. */
  readonly socketPath: string | undefined
  /** HTTP requests since the start. */
  readonly requests: number
  /** Connections now, over all listeners. */
  readonly connections: number
  close(): Promise<void>
}

/** Listens on free ports of 127.0.0.1 and, when asked, on `::1` and on a unix socket. */
export async function startOrigin(options: { ipv6?: boolean; unix?: boolean } = {}): Promise<Origin> {
  const sockets = new Sockets()
  const servers: Server[] = []
  let requests = 0
  const serve = async (server: Server, where: ListenOptions): Promise<number> => {
    servers.push(server.on('connection', (socket) => sockets.add(socket)))
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where, resolve))
    return typeof server.address() === 'string' ? 0 : (server.address() as AddressInfo).port
  }
  const http = (): Server =>
    createServer((request, response) => {
      requests += 1
      answer(request, response)
    })
  const directory = options.unix ? await mkdtemp(join(tmpdir(), 'origin-')) : undefined
  const close = async (): Promise<void> => {
    await Promise.all([...servers.map(closeServer), sockets.close()])
    if (directory !== undefined) await rm(directory, { recursive: true, force: true })
  }
  const socketPath = directory && join(directory, 'http')
  if (socketPath !== undefined) await serve(http(), { path: socketPath })
  return {
    host: '127.0.0.1',
    port: await serve(http(), { host: '127.0.0.1', port: 0 }),
    halfClosePort: await serve(halfCloseEcho(), { host: '127.0.0.1', port: 0 }),
    ipv6Port: options.ipv6 ? await serve(http(), { host: '::1', port: 0 }) : undefined,
    socketPath,
    get requests() {
      return requests
    },
    get connections() {
      return sockets.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const [, what, argument] = /^\/(\w+)(?:\/(\d+))?/.exec(request.url ?? '') ?? []
  if (what === 'hang') return
  if (what === 'health') response.end('ok')
  else if (what === 'status') response.writeHead(Number(argument)).end()
  else if (what === 'bytes') sendBytes(response, Number(argument))
  else request.pipe(response)
}

function sendBytes(response: ServerResponse, count: number): void {
  response.setHeader('content-length', count)
  let left = count
  const more = (): void => {
    while (left > 0) {
      const size = Math.min(left, 64 * 1024)
      left -= size
      if (!response.write(Buffer.alloc(size, 'x'))) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

function halfCloseEcho(): Server {
  return createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const received: Buffer[] = []
    socket.on('data', (bytes) => received.push(bytes))
    socket.on('end', () => socket.end(Buffer.concat(received)))
  })
}
