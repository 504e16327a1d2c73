import { request } from 'node:http'
import type { Remote } from '../api/forward.ts'
import type { Lease } from '../api/lease.ts'

/** What one HTTP check found. */
export interface HttpAnswer {
  readonly status: number
  readonly statusText: string
}

/** Asks for one path through a lease and reads the answer to its end; rejects with what went wrong in the tunnel, or with the signal's reason. */
export function httpCheck(lease: Lease, to: Remote, path: string, signal: AbortSignal): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const socket = lease.socket(to)
    const host = 'port' in to ? `${to.host ?? '127.0.0.1'}:${to.port}` : 'localhost'
    const asked = request({ path, headers: { host, connection: 'close' }, signal, createConnection: () => socket })
    asked.on('error', (error) => reject(signal.aborted ? signal.reason : (socket.errored ?? error)))
    asked.on('response', (answer) => {
      answer.on('error', reject)
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, statusText: answer.statusMessage ?? '' }))
      answer.resume()
    })
    asked.end()
  })
}
