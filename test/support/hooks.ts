import assert from 'node:assert/strict'
import type { TunnelPool } from '../../src/api/pool.ts'
import { startCompiler } from './compiler.ts'
import { type Holdings, holdings, newSince } from './holdings.ts'
import { endOfTests, forgetMishaps, mishaps, openJournal, readJournal, startOfTests, testBegins } from './mishaps.ts'
import { until } from './until.ts'

type Ledgered = Pick<TunnelPool, 'resources'>

const pools = new Set<Ledgered>()
let settleMillis = 10_000
let atStart: Holdings
let before: Holdings

/** Has a pool's ledger checked after the test that makes it. */
export function track<P extends Ledgered>(pool: P): P {
  pools.add(pool)
  return pool
}

/** How long what was closed may take to be gone; 10_000 ms unless a file that leaks on purpose has less patience. */
export function settleWithin(millis: number): void {
  settleMillis = millis
}

/** What is left of a test: by our books, by the kernel, and what went wrong unheard. */
function leftovers(since: Holdings): string[] {
  const believed = [...pools].flatMap((pool) =>
    pool.resources().map(({ kind, label, owner }) => `ledger: ${kind} ${label} of ${owner}`),
  )
  return [...believed, ...newSince(since).map((line) => `kernel: ${line}`), ...mishaps()]
}

async function settled(since: Holdings): Promise<void> {
  await until(() => mishaps().length > 0 || leftovers(since).length === 0, { within: settleMillis }).catch(() => {})
  const left = leftovers(since)
  pools.clear()
  forgetMishaps()
  assert.deepEqual(left, [], `left behind:\n${left.join('\n')}`)
}

/**
 * After every test the ledger and the kernel agree that nothing is left of it. What a `before` of its suite has made is up by then and counts as given;
 * it must be gone at the end of the file.
 */
export const mochaHooks: Mocha.RootHookObject = {
  async beforeAll() {
    startOfTests()
    if (process.execArgv.some((word) => word.includes('tsx'))) await startCompiler()
    atStart = holdings()
  },
  beforeEach(this: Mocha.Context) {
    testBegins(this.currentTest)
    before = holdings()
  },
  async afterEach(this: Mocha.Context) {
    try {
      await settled(before)
    } catch (error) {
      // Fails the test, and not the hook, which would end the run. One that has failed half-way has reason enough to leave something.
      if (this.currentTest?.state !== 'failed') (this.test as Mocha.Hook).error(error)
    }
  },
  async afterAll() {
    try {
      await settled(atStart)
    } finally {
      endOfTests()
    }
  },
}

/** In the process that runs no tests itself, before the workers and after them. */
export const mochaGlobalSetup = openJournal
export const mochaGlobalTeardown = readJournal
