import type { PoolReport, PoolStats } from '../api/report.ts'
import { shown, withoutFolders } from '../shown.ts'

/** Of each list; how many there are is said beside it. */
const MOST = 500

/** What a pool says of itself to another process of its user, in one line of JSON. */
export interface ShownReport {
  readonly pid: number
  readonly upSeconds: number
  readonly stats: PoolStats
  readonly unreaped: number
  readonly counts: { readonly tunnels: number; readonly leases: number; readonly waiting: number }
  readonly tunnels: ReadonlyArray<{
    readonly destination: string
    readonly label?: string | undefined
    readonly generation: number
    readonly state: string
    readonly since: string
    readonly why?: string | undefined
    readonly resources: readonly string[]
  }>
  readonly leases: ReadonlyArray<{
    readonly id: string
    readonly destination: string
    readonly generation: number
    readonly label?: string | undefined
    readonly since: string
  }>
  readonly waiting: ReadonlyArray<{ readonly destination: string; readonly since: string; readonly for: string }>
}

/** A report by its allow-listed fields, bounded: no stack, no folder, no secret. */
export function shownReport({ tunnels, leases, waiting, unreaped }: PoolReport, stats: PoolStats): string {
  const label = (text: string | undefined) => (text === undefined ? undefined : shown(text, 80))
  const report: ShownReport = {
    pid: process.pid,
    upSeconds: Math.round(process.uptime()),
    stats,
    unreaped,
    counts: { tunnels: tunnels.length, leases: leases.length, waiting: waiting.length },
    tunnels: tunnels.slice(0, MOST).map((tunnel) => ({
      destination: tunnel.destination,
      label: label(tunnel.label),
      generation: tunnel.generation,
      state: tunnel.state,
      since: tunnel.since.toISOString(),
      why: tunnel.why === undefined ? undefined : withoutFolders(tunnel.why),
      resources: tunnel.resources.slice(0, 20).map((entry) => `${entry.kind} ${withoutFolders(entry.label)}`),
    })),
    leases: leases.slice(0, MOST).map(({ id, destination, generation, label: name, since }) => ({
      id,
      destination,
      generation,
      label: label(name),
      since: since.toISOString(),
    })),
    waiting: waiting.slice(0, MOST).map(({ destination, since, for: what }) => ({
      destination,
      since: since.toISOString(),
      for: shown(what, 80),
    })),
  }
  return JSON.stringify(report)
}
