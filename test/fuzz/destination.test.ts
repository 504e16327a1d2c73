import assert from 'node:assert/strict'
import fc from 'fast-check'
import { destinationMachine } from '../../machines/index.ts'
import { Coverage } from '../model/coverage.ts'
import { type Act, act, ends } from './acts.ts'
import { DestinationRun } from './destination-run.ts'
import { starts } from './starts.ts'

/** Runs in the normal suite; `WARREN_FUZZ=5000` for more, `WARREN_SEED=…` for those of a failure. */
const RUNS = Number(process.env.WARREN_FUZZ ?? 100)
const SEED = Number(process.env.WARREN_SEED ?? 1)
type Script = [boolean, boolean, readonly Act[], Act[], Act | null]

/** What no order of events takes, and why. */
const UNTAKEN: Readonly<Record<string, string>> = {
  'destination: xstate.error.actor.* → stays': 'a tunnel actor that broke: test/actors/containment.test.ts',
  'serving: tunnel.ended [isCurrent] → dormant': 'the current tunnel broke: told by the autopsy, test/actors/containment.test.ts',
  'destination.serving.succeeding.opening: tunnel.ended [isCurrent] → opening': 'the same, while a successor opens',
}

describe('fuzz: a destination under any order of events', () => {
  const coverage = new Coverage(destinationMachine)

  it('keeps its books straight after each, and ends with nothing left', async function () {
    this.timeout(20_000 + RUNS * 50)
    const script = fc.tuple(
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom(...starts),
      fc.array(act, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.option(fc.constantFrom(...ends)),
    )
    await fc.assert(
      fc.asyncProperty(script, async ([hasJump, rests, start, acts, end]) => {
        const run = new DestinationRun(hasJump, rests, coverage)
        for (const step of [...start, ...acts]) await run.do(step)
        if (end !== null) await run.do(end)
        await run.end()
      }),
      {
        numRuns: RUNS + 3 * starts.length,
        seed: SEED,
        examples: starts.flatMap((start): [Script][] => [
          [[false, false, start, [], null]],
          [[true, true, start, [], null]],
          [[false, true, start, [], null]],
        ]),
      },
    )
  })

  it('leaves no transition of the machine untaken', () => {
    assert.deepEqual(coverage.missing(UNTAKEN), { untaken: [], vain: [] })
  })
})
