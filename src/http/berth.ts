import type { Remote } from '../api/forward.ts'
import type { TunnelSocket } from '../api/lease.ts'

/**
 * One socket of an agent or dispatcher. A lease covers it while a request is on it; free, it is parked: it stays with its generation, holds no
 * lease, and is closed when that generation drains.
 */
export interface Berth {
  readonly socket: TunnelSocket
  /** The request is over: gives the lease back. False if the socket is closed instead, because its generation is not lent any more. */
  park(): boolean
  /** Another request comes: takes a lease of the same generation. False if there is none to be had, or the generation may be dead: use another socket. */
  take(): boolean
}

/** Opens a socket with a lease on it, at once: what goes wrong arrives as its 'error'. */
export type OpenBerth = (to: Remote) => Berth
