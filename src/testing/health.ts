import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Tally } from './tally.ts'

/** A host's own port: no socket of this machine has it, and only the host's tunnels reach it. */
export const HEALTH_PORT = 80

const tallies = new WeakMap<object, Pick<Tally, 'requests'>>()

// It never listens: connections are given to it, and it holds nothing between them.
const server = createServer((request, response) => {
  const tally = tallies.get(request.socket)
  if (tally !== undefined) tally.requests += 1
  const isHealth = request.url === '/health'
  const body = isHealth ? 'ok' : 'not found'
  response.writeHead(isHealth ? 200 : 404, { 'content-type': 'text/plain', 'content-length': body.length }).end(body)
})

/** Speaks HTTP on a stream: `GET /health` is 200 `ok`. Every request is counted. */
export function serveHealth(stream: Duplex, tally: Pick<Tally, 'requests'>): void {
  tallies.set(stream, tally)
  server.emit('connection', stream)
}
