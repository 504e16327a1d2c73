import assert from 'node:assert/strict'
import type { InspectionEvent } from 'xstate'
import { poolMachine } from '../../machines/index.ts'
import { pathOf, turn } from '../machines/gates.ts'
import { startPool } from '../machines/pool-world.ts'
import { Coverage } from './coverage.ts'
import { everyTransitionOnce } from './paths.ts'
import { ANSWERS, type PoolFact, poolModel, WISHES } from './pool-model.ts'

/** What no path takes, and why. */
const UNTAKEN: Readonly<Record<string, string>> = {
  'pool: xstate.error.actor.* → stays':
    'an error that comes out of an actor whose state was left: XState drops those of a promise',
}
const DRAIN_MILLIS = 10_000
const RETRY_MILLIS = 60_000

function startRun(inspect: (event: InspectionEvent) => void) {
  const pool = startPool(1_000, inspect)
  const facts: Readonly<Record<PoolFact['type'], () => void>> = {
    close: () => pool.close(DRAIN_MILLIS),
    hurry: () => pool.close(DRAIN_MILLIS / 2),
    destroy: () => pool.destroy(),
    bug: () => pool.actor.send({ type: 'pool.fault', message: 'a bug' }),
    'env.registry broke': () => {
      pool.breakRegistry()
      pool.actor.getSnapshot().children.registry?.send({ type: 'registry.destroy', reason: 'to break it' })
    },
    'env.emptied': () => pool.emptied(),
    'env.freed': () => pool.release.last().open(),
    'env.stays': () => pool.release.last().fail(new Error('it stays')),
    'env.time.drain': () => pool.pass(DRAIN_MILLIS),
    'env.time.grace': () => pool.pass(500),
    'env.time.retry': () => pool.pass(RETRY_MILLIS),
  }
  return { pool, happen: (type: PoolFact['type']) => facts[type]() }
}

describe('the contract of a pool, and its machine', () => {
  const coverage = new Coverage(poolMachine)

  it('agree after every step of every path', async () => {
    const paths = everyTransitionOnce(poolModel, {
      events: (state) => [...WISHES, ...(ANSWERS[pathOf(state.value)] ?? []).map((type) => ({ type }) as PoolFact)],
      fold: ({ value }) => JSON.stringify(value),
      isFinal: ({ status }) => status !== 'active',
    })
    assert.ok(paths.length > 25, `only ${paths.length} paths`)
    for (const path of paths) {
      const { pool, happen } = startRun(coverage.inspect)
      for (const { event, state } of path) {
        happen(event.type)
        await turn()
        assert.equal(pool.state(), pathOf(state.value), path.map(({ event: { type } }) => type).join(', '))
      }
      const holds = pool.state().endsWith('holding')
      for (const last of ['destroy', 'env.emptied', ...(holds ? (['env.time.retry'] as const) : []), 'env.freed'] as const)
        if (pool.actor.getSnapshot().status === 'active') {
          happen(last)
          await turn()
        }
      assert.equal(pool.state(), 'closed')
    }
  })

  it('leave no transition of the machine untaken', () => {
    assert.deepEqual(coverage.missing(UNTAKEN), { untaken: [], vain: [] })
  })
})
