import assert from 'node:assert/strict'
import { tunnelMachine } from '../../machines/index.ts'
import { pathOf } from '../machines/gates.ts'
import { Coverage } from './coverage.ts'
import { everyTransitionOnce } from './paths.ts'
import { ANSWERS, type TunnelFact, tunnelModel, WISHES } from './tunnel-model.ts'
import { TunnelRun } from './tunnel-run.ts'

/** What no path takes, and why. */
const UNTAKEN: Readonly<Record<string, string>> = {
  'tunnel: xstate.error.actor.* → stays':
    'an error that comes out of an actor whose state was left: XState drops those of a promise',
}

describe('the contract of a tunnel, and its machine', () => {
  const coverage = new Coverage(tunnelMachine)

  for (const input of [
    { isExclusive: false, needsDirectory: true },
    { isExclusive: true, needsDirectory: false },
  ])
    it(`agree after every step of every path: ${input.isExclusive ? 'exclusive' : 'shared, with a directory'}`, async () => {
      const paths = everyTransitionOnce(tunnelModel, {
        input,
        events: (state) => [...WISHES, ...(ANSWERS[pathOf(state.value)] ?? []).map((type) => ({ type }) as TunnelFact)],
        fold: ({ value, context }) => JSON.stringify([value, context]),
        isFinal: ({ status }) => status !== 'active',
      })
      assert.ok(paths.length > 100, `only ${paths.length} paths`)
      for (const path of paths) {
        const run = new TunnelRun(input, coverage.inspect)
        const told = () => path.map(({ event }) => event.type).join(', ')
        for (const { event, state } of path) {
          await run.happen(event)
          assert.equal(run.state, pathOf(state.value), told())
        }
        await run.end()
      }
    })

  it('leave no transition of the machine untaken', () => {
    assert.deepEqual(coverage.missing(UNTAKEN), { untaken: [], vain: [] })
  })
})
