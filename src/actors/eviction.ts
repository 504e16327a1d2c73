import type { RoomSeeker } from '../limits/room.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Parts } from './parts.ts'
import type { Tunnel } from './tunnel.ts'

/** A dial that waits for room. */
export interface Seeker extends RoomSeeker {
  /** What it holds meanwhile. */
  readonly jump: LeaseRecord | undefined
}

/** What lies under the first in line: the jump whose lease it holds, and the jumps of that. */
function chainOf(jump: LeaseRecord | undefined): Set<Tunnel> {
  const chain = new Set<Tunnel>()
  for (let hop = jump?.tunnel; hop !== undefined; hop = hop.jump?.tunnel) chain.add(hop)
  return chain
}

/**
 * Which tunnel makes room for another: the least recently used one without a lease. When there is none, a jump that is held by nothing but
 * dials that wait for room themselves, and not under the first of them: chains that have each taken some of the last places would wait for
 * each other. The first in line has waited longest and gets its whole chain; that is why this ends.
 */
export function evictor({
  idle,
  stalled,
}: Pick<Parts, 'idle' | 'stalled'>): (first: Seeker, leaving: number) => Tunnel | undefined {
  const next = ({ jump }: Seeker, leaving: number): Tunnel | undefined => {
    for (const tunnel of idle) return tunnel
    if (leaving > 0) return undefined
    const needed = chainOf(jump)
    for (const [tunnel, waiting] of stalled)
      if (tunnel.isOpen && tunnel.leases.size === waiting && !needed.has(tunnel)) return tunnel
    return undefined
  }
  return (first, leaving) => {
    const tunnel = next(first, leaving)
    if (tunnel === undefined) return undefined
    idle.delete(tunnel)
    tunnel.tell({ type: 'tunnel.close', reason: 'evicted: maxTunnels' })
    return tunnel
  }
}
