import assert from 'node:assert/strict'
import { destinationMachine } from '../../machines/index.ts'
import { Coverage, leavesOf } from '../model/coverage.ts'
import { type Act, ends, send, strays, wishes } from './acts.ts'
import { DestinationRun } from './destination-run.ts'
import { starts } from './starts.ts'

/** Passed through within one step: nothing can come while it is there. */
const PASSED_THROUGH = ['dialing.approaching', 'serving.succeeding.deciding', 'serving.succeeding.unsucceeded']
const NOT_SERVING = [
  'dormant',
  'dialing.spreading',
  'dialing.pausing',
  'dialing.jumping',
  'dialing.queued',
  'dialing.opening',
  'resting.hushed',
  'resting.ready',
  'barred.shut',
  'barred.ready',
  'leaving',
]
/** What a state does not answer, and why that is right. */
const UNANSWERED: Readonly<Record<string, { readonly in: readonly string[]; readonly why: string }>> = {
  'dial.wanted': { in: ['leaving'], why: 'who waits was dismissed; the next one waits for a fresh destination' },
  'dial.unwanted': { in: ['leaving'], why: 'nobody is served any more' },
  'dial.forced': { in: ['barred.shut', 'leaving'], why: 'the one attempt is not due yet; nobody is served any more' },
  'destination.retire': {
    in: ['dormant', 'resting.hushed', 'resting.ready', 'barred.shut', 'barred.ready', 'leaving'],
    why: 'there is nothing to retire; it goes anyway',
  },
  'tunnel.proven': { in: NOT_SERVING, why: 'only the current tunnel is lent, and there is none' },
  'tunnel.draining': {
    in: NOT_SERVING,
    why: 'only the current tunnel is demoted, and there is none; the others are awaited until they end',
  },
}

const sent = (acts: readonly Act[]) => acts.flatMap((act) => (act.do === 'send' ? [act] : []))
const external = [
  ...sent(wishes),
  ...sent(ends),
  ...sent(strays),
  ...sent([
    send({ type: 'exclusive.admitted', generation: 20_000 }),
    send({ type: 'tunnel.stuck', generation: 10_000, code: 'ERR_LOST', wasOpen: true }),
  ]),
]

describe('a destination: every event from outside in every state', () => {
  const leaves = leavesOf(destinationMachine).filter((state) => state !== 'left' && !PASSED_THROUGH.includes(state))
  const coverage = new Coverage(destinationMachine)

  it('is answered, or it is written here why not', () => {
    for (const type of new Set(external.map(({ event }) => event.type)))
      assert.deepEqual(
        leaves.filter((state) => !answers(state, type)),
        [...(UNANSWERED[type]?.in ?? [])],
        type,
      )
  })

  it('keeps the books straight, and ends with nothing left', async () => {
    type Way = readonly [hasJump: boolean, rests: boolean, acts: readonly Act[]]
    const ways = new Map<string, Way>()
    for (const [hasJump, rests] of [
      [false, false],
      [true, true],
      [false, true],
    ] as const)
      for (const start of starts) {
        const run = new DestinationRun(hasJump, rests, coverage)
        for (const [n, act] of start.entries()) {
          await run.do(act)
          if (!ways.has(run.world.state)) ways.set(run.world.state, [hasJump, rests, start.slice(0, n + 1)])
        }
        await run.end()
        if (!ways.has('dormant')) ways.set('dormant', [false, false, []])
      }
    assert.deepEqual(
      [...leaves].filter((state) => !ways.has(state)),
      [],
      'states that no start leads to',
    )
    for (const state of leaves)
      for (const act of external) {
        const [hasJump, rests, acts] = ways.get(state) ?? assert.fail(state)
        const run = new DestinationRun(hasJump, rests, coverage)
        for (const before of acts) await run.do(before)
        assert.equal(run.world.state, state)
        await run.do(act)
        await run.end()
      }
  })
})

function answers(state: string, type: string): boolean {
  let node: unknown = destinationMachine.root
  const has = (one: unknown) => (one as { transitions: ReadonlyMap<string, unknown> }).transitions.has(type)
  if (has(node)) return true
  for (const name of state.split('.')) {
    node = (node as { states: Readonly<Record<string, unknown>> }).states[name]
    if (has(node)) return true
  }
  return false
}
