import { AssertionError } from 'node:assert'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TunnelPool } from '../api/pool.ts'
import { census, optionsOf } from './census.ts'
import type { Census } from './contract.ts'

const POLL_MILLIS = 10
/** Of these the test runner has its own, at any time; timers of a pool are in its ledger. */
const OTHERS = new Set(['Timeout', 'Immediate'])

/**
 * Asserts that a pool holds nothing, by its ledger and, with a baseline, by the kernel. Waits for it: what is closed takes a moment to be gone.
 *
 * @param options.baseline a census taken before the pool was used; more than that is a leak
 * @param options.settleMillis longest wait; default 2_000
 * @throws {AssertionError} that lists what is left, a line for each
 * @example
 * const baseline = await census()
 * const pool = createTunnelPool()
 * await useIt(pool)
 * await pool.close()
 * await assertNoLeaks(pool, { baseline })
 */
export async function assertNoLeaks(
  pool: TunnelPool,
  options: { baseline?: Census | undefined; settleMillis?: number | undefined } = {},
): Promise<void> {
  const { baseline, settleMillis = 2_000 } = options
  const deadline = performance.now() + settleMillis
  for (;;) {
    const left = await leaks(pool, baseline)
    if (left.length === 0) return
    if (performance.now() >= deadline) throw failure(left, settleMillis)
    await sleep(Math.max(0, Math.min(POLL_MILLIS, deadline - performance.now())))
  }
}

function failure(left: readonly string[], settleMillis: number): AssertionError {
  const message = [`${left.length} left after ${settleMillis} ms:`, ...left.map((line) => `  ${line}`)].join('\n')
  return new AssertionError({ message, actual: left, expected: [], operator: 'assertNoLeaks', stackStartFn: assertNoLeaks })
}

async function leaks(pool: Pick<TunnelPool, 'resources'>, baseline: Census | undefined): Promise<string[]> {
  const believed = pool
    .resources()
    .map(({ kind, label, owner, since }) => `ledger: ${kind} ${label} of ${owner} since ${since.toISOString()}`)
  if (baseline === undefined) return believed
  return [...believed, ...growth(baseline, await census(optionsOf(baseline))).map((line) => `kernel: ${line}`)]
}

/** What a later census has above an earlier one, a line for each. */
export function growth(before: Census, now: Census): string[] {
  const lines: string[] = []
  const more = (what: string, from: number, to: number): void => {
    if (to > from) lines.push(`${to} ${what}, were ${from}`)
  }
  for (const [kind, label] of [
    ['children', 'child'],
    ['listening', 'listener'],
    ['files', 'file'],
  ] as const) {
    const known = new Set(before[kind])
    for (const name of now[kind]) if (!known.has(name)) lines.push(`${label} ${name}`)
  }
  more('zombies', before.zombies, now.zombies)
  more('descriptors', before.descriptors, now.descriptors)
  for (const [kind, count] of Object.entries(now.handles)) if (!OTHERS.has(kind)) more(kind, before.handles[kind] ?? 0, count)
  return lines
}
