import type { PoolReport } from '../api/report.ts'
import { countUnreaped } from '../owners/child/unreaped.ts'
import type { Destination } from './destination.ts'

type Tunnels = PoolReport['tunnels'][number]
type Leases = PoolReport['leases'][number]
type Waiting = PoolReport['waiting'][number]

/** What is open, since when, who holds it, and why it is not closing. */
export function reportOf(destinations: Iterable<Destination>): PoolReport {
  const tunnels: Tunnels[] = []
  const leases: Leases[] = []
  const waiting: Waiting[] = []
  for (const { target, tunnels: own, lending, exclusives } of destinations) {
    const destination = target.id
    for (const tunnel of own.values()) {
      const { generation, record, scope } = tunnel
      const { state = 'opening', since, reason, wasStuck } = record
      const why = wasStuck ? `stuck: ${reason}` : reason
      tunnels.push({ destination, label: target.label, generation, state, since, why, resources: scope.entries() })
      for (const { id, label, since, stack } of tunnel.leases) leases.push({ id, destination, generation, label, since, stack })
    }
    for (const { since, options } of lending.waiters) waiting.push({ destination, since, for: options.label ?? 'a lease' })
    for (const { since, options } of exclusives.waiters)
      waiting.push({ destination, since, for: options.label ?? 'a tunnel of its own' })
  }
  return { tunnels, leases, waiting, unreaped: countUnreaped() }
}
