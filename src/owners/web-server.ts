import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { ownListener } from './listener.ts'
import type { Scope } from './scope.ts'

const MOST_CONNECTIONS = 64
const HEADERS_MILLIS = 5_000
const REQUEST_MILLIS = 10_000
const MOST_HEADER_BYTES = 8_192

/** An HTTP server that listens, and the port that it listens on. */
export interface OwnedWebServer {
  readonly port: number
}

/**
 * Serves HTTP/1.1 on one address, bounded in connections, header bytes and how long a request may take to arrive. The listener and each
 * connection belong to `scope`; none of them holds the process. Rejects as `ownListener` does.
 */
export async function ownWebServer(
  address: { host: string; port: number },
  scope: Scope,
  answer: RequestListener,
): Promise<OwnedWebServer> {
  const server = createServer(
    { requestTimeout: REQUEST_MILLIS, headersTimeout: HEADERS_MILLIS, maxHeaderSize: MOST_HEADER_BYTES, noDelay: true },
    answer,
  )
  server.maxConnections = MOST_CONNECTIONS
  const accept = (socket: Socket) => {
    const held = scope.hold('socket', 'viewer', { force: () => void socket.destroy() })
    socket.once('close', () => held.strike())
    socket.unref()
  }
  const { port } = await ownListener(address, scope, accept, server)
  return { port: port ?? address.port }
}
