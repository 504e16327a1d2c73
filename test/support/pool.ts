import assert from 'node:assert/strict'
import { createTunnelPool, type PoolOptions, TunnelError, type TunnelErrorCode, type TunnelPool } from '../../src/index.ts'
import { track } from './hooks.ts'

/** A pool whose ledger is checked after the test; disposing of it ends it at once. */
export function startPool(options: PoolOptions = {}): TunnelPool {
  const pool = track(createTunnelPool({ closeGraceMillis: 2_000, ...options }))
  return Object.defineProperty(pool, Symbol.asyncDispose, { value: () => pool.close({ timeoutMillis: 0 }) })
}

/** What a promise rejects with, which must be a TunnelError of this code and phase. */
export async function refusal(promise: Promise<unknown>, code: TunnelErrorCode, phase?: string): Promise<TunnelError> {
  const error = await promise.then(
    () => assert.fail(`expected ${code}, but it resolved`),
    (reason) => reason,
  )
  assert.ok(TunnelError.is(error), `expected ${code}, got ${String(error?.stack ?? error)}`)
  assert.equal(error.code, code, error.stack)
  if (phase !== undefined) assert.equal(error.phase, phase, error.stack)
  return error
}
