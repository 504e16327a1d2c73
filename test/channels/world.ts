import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { TcpAddress, UnixAddress } from '../../src/api/forward.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import type { PoolFacts } from '../../src/api/report.ts'

/** A client of a forward; what becomes of it is told by `ending`. */
export function clientOf(address: UnixAddress | TcpAddress): Socket {
  const where = 'socketPath' in address ? { path: address.socketPath } : { host: address.host, port: address.port }
  return connect({ ...where, allowHalfOpen: true }).on('error', () => {})
}

/** How a stream ended for its reader: all of its data, or the code of what broke it. */
export function ending(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    stream.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    stream.once('end', () => resolve('end'))
    stream.once('close', () => resolve('closed'))
    stream.resume()
  })
}

/** All that a stream says until its end. */
export async function text(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

/** Whether anybody accepts there; what is in the way if not. */
export async function knock(address: UnixAddress | TcpAddress): Promise<string> {
  const socket = clientOf(address)
  try {
    await once(socket, 'connect')
    return 'open'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  } finally {
    socket.destroy()
  }
}

/** What a pool's ledger holds of one kind. */
export const kept = (pool: TunnelPool, kind: string): string[] =>
  pool.resources().flatMap((entry) => (entry.kind === kind ? [entry.label] : []))

/** What a pool listens on for its forwards. */
export const listeners = (pool: TunnelPool): string[] => kept(pool, 'listener').filter((label) => label !== 'owner socket')

/** Each `forward.refused` from now on. */
export function refusals(pool: TunnelPool): Array<PoolFacts['forward.refused']> {
  const told: Array<PoolFacts['forward.refused']> = []
  pool.on('forward.refused', (fact) => told.push(fact))
  return told
}

/** Bytes that lie in the kernel, unread, on connections to a port of 127.0.0.1. */
export function rxQueue(remotePort: number): number {
  const suffix = `:${remotePort.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  return rows.reduce((sum, row) => {
    const [, , remote = '', , queues = ''] = row.trim().split(/\s+/)
    return remote.endsWith(suffix) ? sum + Number.parseInt(queues.split(':')[1] ?? '0', 16) : sum
  }, 0)
}
