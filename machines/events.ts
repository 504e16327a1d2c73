/**
 * Every event, input and output that the machines speak. Ids, counts, codes and milliseconds only: what happened to a socket, a key
 * or a password is told in words and stays outside, so that any snapshot can be logged.
 */

/** What a tunnel must know about time; all in ms, Infinity: never. */
export interface TunnelTimes {
  readonly openTimeoutMillis: number
  readonly idleTimeoutMillis: number
  readonly probeTimeoutMillis: number
  readonly drainTimeoutMillis: number
  readonly closeGraceMillis: number
}

export interface TunnelInput {
  /** Public id of the destination, for people. */
  readonly destination: string
  readonly generation: number
  /** Belongs to one lease and closes with it. */
  readonly isExclusive: boolean
  /** Whether opening begins with a private directory. */
  readonly needsDirectory: boolean
  readonly times: TunnelTimes
}

/** Names one tunnel to the actors it invokes. */
export interface TunnelName {
  readonly destination: string
  readonly generation: number
}

/** XState's own, when a child broke. One that nobody answers would end the machine, even if the child's state was left meanwhile. */
export interface ActorError {
  type: 'xstate.error.actor.*'
  error: unknown
  actorId: string
}

/** What a tunnel is told. */
export type TunnelEvent =
  /** The first lease (0→1) and the last one's return (1→0); the count between is kept outside. */
  | { type: 'lease.taken'; generation: number; lease: string }
  | { type: 'lease.returned'; generation: number; lease: string }
  /** A lease came back with a fault: this generation is not lent again. */
  | { type: 'lease.faulted'; generation: number; lease: string }
  /** Prove that the other end answers before it is lent. */
  | { type: 'tunnel.verify' }
  | { type: 'tunnel.close'; reason: string; withinMillis?: number | undefined; graceMillis?: number | undefined }
  | { type: 'tunnel.destroy'; reason: string }
  /** The connection is gone: the child's exit or the socket's close, or the jump under it. */
  | { type: 'tunnel.lost'; generation: number; code: string; isJumps?: boolean | undefined }
  /** Our own code threw. */
  | { type: 'tunnel.fault'; message: string }
  | { type: 'drain.expired' }
  | ActorError

/** Why a tunnel is not lent any more. */
export interface TunnelEnd {
  readonly generation: number
  readonly code: string | undefined
  readonly wasOpen: boolean
  /** It was the jump that was lost: no failure of the destination. */
  readonly isJumps?: boolean | undefined
}

/** What a tunnel tells its destination. */
export type TunnelReport =
  | { type: 'tunnel.opened'; generation: number }
  | { type: 'tunnel.proven'; generation: number }
  /** Not lent from here on. */
  | ({ type: 'tunnel.draining' } & TunnelEnd)
  | ({ type: 'tunnel.stuck' } & TunnelEnd)
  | ({ type: 'tunnel.ended' } & TunnelEnd)

export interface TunnelOutput {
  readonly generation: number
  readonly reason: string
  readonly code: string | undefined
}

/** What a destination must know about time; all in ms. */
export interface DestinationTimes {
  readonly backoffMinMillis: number
  readonly backoffMaxMillis: number
  readonly barredRetryMillis: number
  /** Spread already by ± 10 %. */
  readonly maxLifetimeMillis: number
}

export interface DestinationInput {
  readonly id: string
  readonly needsDirectory: boolean
  /** Whether it is reached through a jump: another destination, whose tunnel is leased before anything else is asked for. */
  readonly hasJump: boolean
  readonly times: DestinationTimes
  readonly tunnelTimes: TunnelTimes
}

/** A place in which to dial, and the number of the opening, from the pool's one counter. */
export interface Admission {
  readonly generation: number
}

/** What a destination is told. */
export type DestinationEvent =
  /** Somebody waits for a tunnel; nobody does any more. Edges, like those of leases. */
  | { type: 'dial.wanted' }
  | { type: 'dial.unwanted' }
  /** Somebody wants a dial although the destination rests or is barred. */
  | { type: 'dial.forced' }
  | { type: 'dial.lingered' }
  | { type: 'auth.aged' }
  /** The current tunnel has lived its time. */
  | { type: 'life.over' }
  | { type: 'exclusive.admitted'; generation: number }
  | { type: 'destination.retire'; force: boolean }
  | { type: 'destination.reset' }
  | { type: 'destination.leave'; withinMillis: number; graceMillis: number; reason: string }
  | { type: 'destination.destroy'; reason: string }
  | { type: 'destination.fault'; message: string }
  | TunnelReport
  | ActorError

export interface PoolInput {
  readonly closeGraceMillis: number
}

/** What the pool is told. */
export type PoolEvent =
  | { type: 'pool.close'; withinMillis: number }
  | { type: 'pool.destroy'; reason: string }
  | { type: 'pool.fault'; message: string }
  | { type: 'drain.expired' }
  /** The registry holds no destination any more. */
  | { type: 'registry.emptied' }
  | ActorError

/** What the pool tells its registry of destinations. */
export type RegistryEvent =
  | { type: 'registry.drain'; withinMillis: number; graceMillis: number }
  | { type: 'registry.destroy'; reason: string }
