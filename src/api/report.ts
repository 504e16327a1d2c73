import type { TunnelError } from '../errors.ts'
import type { Remote } from './forward.ts'
import type { TransportName } from './target.ts'

/** XState's InspectionEvent in shape; not imported, because xstate's own types fail in consumers with `exactOptionalPropertyTypes` and without `skipLibCheck`. */
export interface InspectedEvent {
  readonly type: string
  readonly rootId: string
  readonly actorRef: unknown
  readonly [field: string]: unknown
}
export interface Health {
  readonly state: 'unknown' | 'dormant' | 'dialing' | 'serving' | 'resting' | 'barred' | 'leaving'
  /** Wall time of the last proof (a round trip or bytes received); undefined: never. */
  readonly lastVerifiedAt: Date | undefined
  readonly failures: number
  readonly retryAt: Date | undefined
  readonly cause: TunnelError | undefined
  readonly remoteAddress: string | undefined
}
export interface PoolStats {
  readonly destinations: Readonly<Record<'dormant' | 'dialing' | 'serving' | 'resting' | 'barred' | 'leaving', number>>
  readonly tunnels: Readonly<Record<'opening' | 'open' | 'draining', number>>
  readonly leases: number
  readonly waiting: number
  readonly opened: number
  readonly closed: number
  readonly failed: number
  readonly lost: number
}
export interface PoolReport {
  readonly tunnels: ReadonlyArray<{
    destination: string
    label?: string | undefined
    generation: number
    state: string
    since: Date
    why?: string | undefined
    resources: readonly LedgerEntry[]
  }>
  readonly leases: ReadonlyArray<{
    id: string
    destination: string
    generation: number
    label?: string | undefined
    since: Date
    stack?: string | undefined
  }>
  readonly waiting: ReadonlyArray<{ destination: string; since: Date; for: string }>
  readonly unreaped: number
}
export interface LedgerEntry {
  readonly kind: 'child' | 'socket' | 'listener' | 'directory' | 'file' | 'channel' | 'timer' | 'agent'
  readonly label: string
  readonly owner: string
  readonly since: Date
}
/** Every published fact; names and fields are only ever added to. */
export interface PoolFacts {
  'tunnel.opened': {
    destination: string
    generation: number
    transport: TransportName
    openMillis: number
    phases: Readonly<Record<string, number>>
  }
  'tunnel.lost': { destination: string; generation: number; error: TunnelError; leases: number }
  'tunnel.failed': { destination: string; generation: number; error: TunnelError }
  'tunnel.closed': { destination: string; generation: number; reason: string; closeMillis: number; forced: boolean }
  'tunnel.stuck': { destination: string; generation: number; resources: readonly LedgerEntry[] }
  'destination.resting': { destination: string; retryAt: Date; error: TunnelError }
  'destination.barred': { destination: string; error: TunnelError }
  'lease.acquired': { destination: string; generation: number; lease: string; label?: string | undefined; waitMillis: number }
  'lease.released': { destination: string; generation: number; lease: string; heldMillis: number; fault?: Error | undefined }
  'lease.abandoned': { destination: string; generation: number; lease: string }
  'forward.refused': { destination: string; generation: number; to: Remote; error: TunnelError }
  'pool.swept': { directories: number; processes: number; leftAlone: readonly string[] }
}
