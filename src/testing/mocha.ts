import type { TunnelPool } from '../api/pool.ts'
import { census } from './census.ts'
import type { Census } from './contract.ts'
import { assertNoLeaks } from './leaks.ts'

interface HookContext {
  readonly currentTest?: { readonly state?: string | undefined } | undefined
  /** Of this hook: mocha's 2_000 ms would end a wait that is bounded by itself. */
  timeout?(millis: number): unknown
  readonly test?: { error(error: unknown): unknown } | undefined
}

const pools = new Set<TunnelPool>()
const NO_POOL: Pick<TunnelPool, 'resources'> = { resources: () => [] }
let baseline: Census | undefined
let settleMillis = 2_000

/** How long what a test has closed may take to be gone, in milliseconds; 2_000 without this. */
export function settleWithin(millis: number): void {
  settleMillis = millis
}

/** Has a pool's ledger checked, too, after the test (or the hook) in which this is called. Returns the pool. */
export function track<P extends TunnelPool>(pool: P): P {
  pools.add(pool)
  return pool
}

/**
 * Root hooks for mocha, which this does not import: `mocha --require ssh-warren/testing/mocha`. A test that passes and leaves behind more than there was before it,
 * by the kernel or by the ledger of a pool given to `track`, fails with the list of what is left; the others go on.
 */
export const mochaHooks = {
  async beforeEach(): Promise<void> {
    baseline = await census()
  },
  async afterEach(this: HookContext): Promise<void> {
    this.timeout?.(0)
    const checked = pools.size === 0 ? [NO_POOL as TunnelPool] : [...pools]
    pools.clear()
    try {
      for (const pool of checked) await assertNoLeaks(pool, { baseline, settleMillis })
    } catch (error) {
      // Fails the test, and not the hook, which would end the run. One that has failed half-way has reason enough to leave something.
      if (this.currentTest?.state !== 'failed') this.test?.error(error)
    }
  },
}
