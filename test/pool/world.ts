import assert from 'node:assert/strict'
import type { Remote } from '../../src/api/forward.ts'
import type { Lease } from '../../src/api/lease.ts'
import type { PoolOptions } from '../../src/api/options.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import type { PoolFacts } from '../../src/api/report.ts'
import type { Target } from '../../src/api/target.ts'
import { createTunnelPool } from '../../src/create-pool.ts'
import { TunnelError, type TunnelErrorCode } from '../../src/errors.ts'
import { Pool } from '../../src/pool.ts'
import { type FleetHost, startFleet } from '../../src/testing/index.ts'
import { track } from '../support/hooks.ts'
import { fastClock } from './clocks.ts'

/** A pool whose ledger is checked after the test, and which does not wait long for a test that has failed. */
export function makePool(options: PoolOptions = {}): TunnelPool {
  return track(createTunnelPool({ drainTimeoutMillis: 200, closeGraceMillis: 200, ...options }))
}

/** Rests until something ends that: the jitter is full, so that what is merely long may be short. */
export const RESTS_LONG = { backoffMinMillis: 1e12, backoffMaxMillis: 1e12 }

/** The same by a clock that runs `times` as fast as the machine's: every duration of the pool is so much shorter. */
export function makeFastPool(times: number, options: PoolOptions = {}): TunnelPool {
  return track(new Pool(options, { clock: fastClock(times) }))
}

/** One host of the embedded fleet. */
export async function startHost(): Promise<{ host: FleetHost; target: Target } & AsyncDisposable> {
  const fleet = await startFleet()
  const [host] = fleet.hosts
  assert.ok(host)
  return { host, target: host.target, [Symbol.asyncDispose]: () => fleet.close() }
}

/** The TunnelError that a promise rejects with. */
export async function rejection(promise: Promise<unknown>, code?: TunnelErrorCode): Promise<TunnelError> {
  let error: unknown
  try {
    await promise
  } catch (reason) {
    error = reason
  }
  assert.ok(error !== undefined, `resolved, instead of ${code ?? 'rejecting'}`)
  assert.ok(TunnelError.is(error), `rejected with something else: ${String(error)}`)
  if (code !== undefined) assert.equal(error.code, code, error.stack)
  return error
}

/** What a promise came to, at once: its outcome is caught, whenever it comes. */
export function settling<T>(promise: Promise<T>): {
  readonly state: 'pending' | 'fulfilled' | 'rejected'
  readonly error: unknown
} {
  const outcome: { state: 'pending' | 'fulfilled' | 'rejected'; error: unknown } = { state: 'pending', error: undefined }
  promise.then(
    () => {
      outcome.state = 'fulfilled'
    },
    (error) => {
      outcome.state = 'rejected'
      outcome.error = error
    },
  )
  return outcome
}

/** An HTTP check through a lease; rejects when the answer is not 200 `ok`. */
export async function check(lease: Lease, to: Remote): Promise<void> {
  const socket = await lease.connect(to)
  const parts: Buffer[] = []
  socket.write('GET /health HTTP/1.1\r\nhost: host\r\nconnection: close\r\n\r\n')
  for await (const part of socket) parts.push(part as Buffer)
  assert.match(Buffer.concat(parts).toString(), /^HTTP\/1.1 200 OK\r\n.*\r\n\r\nok$/s)
}

/** A fact as it was told. */
export type Told = { [Name in keyof PoolFacts]: { readonly name: Name; readonly fact: PoolFacts[Name] } }[keyof PoolFacts]

export const FACTS = [
  'tunnel.opened',
  'tunnel.lost',
  'tunnel.failed',
  'tunnel.closed',
  'tunnel.stuck',
  'destination.resting',
  'destination.barred',
  'lease.acquired',
  'lease.released',
  'lease.abandoned',
  'forward.refused',
  'pool.swept',
] as const satisfies ReadonlyArray<keyof PoolFacts>

/** Every fact of a pool from now on. */
export function listen(pool: TunnelPool): Told[] {
  const told: Told[] = []
  for (const name of FACTS) pool.on(name, (fact) => told.push({ name, fact } as Told))
  return told
}

/** The facts of one name among those told. */
export function named<Name extends keyof PoolFacts>(told: readonly Told[], name: Name): Array<PoolFacts[Name]> {
  return told.flatMap((one) => (one.name === name ? [one.fact as PoolFacts[Name]] : []))
}

/** Numbers from 0 to 1, the same in every run. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
