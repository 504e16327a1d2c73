import type { Agent } from 'node:http'
import type { Lease } from '../api/lease.ts'
import type { CheckFact } from '../api/monitor.ts'
import type { TunnelPool } from '../api/pool.ts'
import { TunnelError, type TunnelErrorCode } from '../errors.ts'
import { unlessAborted } from '../wait.ts'
import { httpCheck } from './http-check.ts'
import type { ResolvedCheck } from './options.ts'

/** How long a tunnel is asked whether it lives, after a check through it has timed out. */
const PROBE_MILLIS = 1_000
/** Wall time is told in whole milliseconds. */
const ROUNDING_MILLIS = 1

export type Finding = Pick<CheckFact, 'ok' | 'tunnel' | 'target' | 'error'>

const OK: Finding = Object.freeze({ ok: true, tunnel: 'ok', target: 'ok', error: undefined })
const REFUSED: ReadonlySet<TunnelErrorCode> = new Set(['ERR_CHANNEL_REFUSED', 'ERR_PROHIBITED'])
const OURS: ReadonlySet<TunnelErrorCode> = new Set(['ERR_POOL_EXHAUSTED', 'ERR_LOCAL_LIMIT'])

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

/** Nothing was asked of the host, for want of room on our side: that says nothing about its health. */
const isOurs = (error: Error): boolean =>
  TunnelError.is(error) &&
  (OURS.has(error.code) || (error.code === 'ERR_ACQUIRE_TIMEOUT' && error.phase === 'queued' && error.cause === undefined))

/** What one check asks with. */
export interface Means {
  /** Its agent, made when first asked for. */
  readonly agent: () => Agent
  /** Ends it; while it waits for a lease only because it is not wanted any more. */
  readonly signal: AbortSignal
  /** It has its lease: from here on its time runs out by `signal`. */
  readonly asking: () => void
}

/** One check, once. `undefined`: it was not made, for want of room on our side. */
export async function examine(
  pool: TunnelPool,
  check: ResolvedCheck,
  { agent, signal, asking }: Means,
): Promise<Finding | undefined> {
  const { target, timeoutMillis } = check
  let lease: Lease
  try {
    const isBarred = pool.health(target).state === 'barred'
    lease = await pool.acquire(target, { timeoutMillis, signal, whenResting: isBarred ? 'dial' : 'reject' })
  } catch (thrown) {
    const error = asError(thrown)
    return isOurs(error) ? undefined : { ok: false, tunnel: 'down', target: 'unknown', error }
  }
  const began = Date.now() - ROUNDING_MILLIS
  asking()
  try {
    await ask(pool, check, lease, agent, signal)
    return OK
  } catch (thrown) {
    return await judge(pool, check, lease, asError(thrown), began)
  } finally {
    lease.release()
  }
}

async function ask(pool: TunnelPool, check: ResolvedCheck, lease: Lease, agent: () => Agent, signal: AbortSignal): Promise<void> {
  if (check.path !== undefined && check.to !== undefined) await httpCheck(agent(), check.to, check.path, signal)
  // It may heed the signal or not.
  else if (check.check !== undefined) await unlessAborted(check.check(lease, signal), signal)
  else if (check.to !== undefined) (await lease.connect(check.to, { signal })).destroy()
  else {
    const began = Date.now() - ROUNDING_MILLIS
    await pool.probe(check.target, { signal, timeoutMillis: check.timeoutMillis })
    if (!isProvenSince(pool, check, began)) throw new TunnelError('ERR_LOST', 'the other end does not answer')
  }
}

const isProvenSince = (pool: TunnelPool, { target }: ResolvedCheck, since: number): boolean =>
  (pool.health(target).lastVerifiedAt?.getTime() ?? 0) >= since

/** It failed: by the tunnel, or by what lies behind it? */
async function judge(pool: TunnelPool, check: ResolvedCheck, lease: Lease, error: Error, began: number): Promise<Finding> {
  const down: Finding = { ok: false, tunnel: 'down', target: 'unknown', error }
  if (lease.signal.aborted) return { ...down, error: asError(lease.signal.reason) }
  if (TunnelError.is(error) && REFUSED.has(error.code)) return { ok: false, tunnel: 'ok', target: 'refused', error }
  const isSilent = TunnelError.is(error)
  const unhealthy: Finding = { ok: false, tunnel: 'ok', target: 'unhealthy', error }
  if (!isSilent || isProvenSince(pool, check, began)) return unhealthy
  await pool.probe(check.target, { timeoutMillis: PROBE_MILLIS }).catch(() => {
    // What counts is whether the tunnel has been proven.
  })
  return isProvenSince(pool, check, began) && !lease.signal.aborted ? unhealthy : down
}
