import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import type { Lease, TransportName, UnixAddress } from '../../src/index.ts'
import { descendantsOf, type ProcessEntry } from '../../src/testing/proc.ts'

/** Each case of the catalogue runs on both, unless it names one. */
export const TRANSPORTS: readonly TransportName[] = ['ssh2', 'openssh']

/** Our own ssh processes that live. */
export const sshProcesses = (): ProcessEntry[] =>
  descendantsOf(process.pid).filter(({ pid, isZombie }) => !isZombie && isSsh(pid))

function isSsh(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`).endsWith('/ssh')
  } catch {
    // It has ended.
    return false
  }
}

/** The status of one HTTP request through a unix forward. */
export async function ask({ socketPath }: UnixAddress, path = '/health'): Promise<number> {
  const [response] = (await once(get({ socketPath, path, agent: false }), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode ?? 0
}

/** One HTTP request through the tunnel of a lease; what came back. */
export async function fetchBy(lease: Lease, port: number): Promise<string> {
  const socket = await lease.connect({ port })
  socket.end('GET /health HTTP/1.0\r\n\r\n')
  let answer = ''
  for await (const part of socket) answer += String(part)
  return answer
}
