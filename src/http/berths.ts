import type { Remote } from '../api/forward.ts'
import type { TunnelPool } from '../api/pool.ts'
import type { Target } from '../api/target.ts'
import type { Berth, OpenBerth } from './berth.ts'

const offers = new WeakMap<TunnelPool, (target: Target, to: Remote) => Berth>()

/** What a pool has beside its public methods for who builds dispatchers on it. */
export function offerBerths(pool: TunnelPool, open: (target: Target, to: Remote) => Berth): void {
  offers.set(pool, open)
}

/** Berths of any pool: of one that is wrapped or from another copy of this package, sockets that keep their lease until they are closed. */
export function berthsOf(pool: TunnelPool, target: Target): OpenBerth {
  const open = offers.get(pool)
  if (open !== undefined) return (to) => open(target, to)
  return (to) => ({ socket: pool.socket(target, to), park: () => true, take: () => true })
}
