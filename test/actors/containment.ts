import assert from 'node:assert/strict'
import { destinationMachine } from '../../machines/destination.ts'
import { tunnelMachine } from '../../machines/tunnel.ts'
import type { MachineChanges } from '../../src/actors/registry.ts'
import type { PoolOptions } from '../../src/api/options.ts'
import { Pool } from '../../src/pool.ts'
import { type FleetHost, startFleet } from '../../src/testing/index.ts'
import { track } from '../support/hooks.ts'
import { IdleClock } from '../support/idle-clock.ts'
import { until } from '../support/until.ts'
import { Outcomes } from './outcomes.ts'
import { Sabotage, type When } from './sabotage.ts'
import { check, LIFETIME_MILLIS, play, playRough, playSlow, type Stage } from './scenario.ts'
import { Stubborn } from './stubborn.ts'

/** A minute of CPU in all, and whatever else the machine does. */
export const CONTAINMENT_TIMEOUT_MILLIS = 300_000
/** Played at once, each for one word after the other. */
const STAGES = 12

interface Piece {
  readonly play: (stage: Stage) => Promise<void>
  readonly times: number
  readonly options: PoolOptions
}
const pieces: readonly Piece[] = [
  {
    play,
    times: 200,
    // In the machine's own time the bounds that nothing here should reach are seconds, so that a busy machine does not reach them either.
    options: {
      acquireTimeoutMillis: 100_000,
      openTimeoutMillis: 100_000,
      channelTimeoutMillis: 60_000,
      drainTimeoutMillis: 4_000,
      closeGraceMillis: 40_000,
      backoffMinMillis: 5_000,
    },
  },
  {
    play: playRough,
    times: 300,
    options: {
      acquireTimeoutMillis: 100_000,
      openTimeoutMillis: 100_000,
      channelTimeoutMillis: 20_000,
      drainTimeoutMillis: 4_000,
      closeGraceMillis: 60_000,
      backoffMinMillis: 10_000,
      maxLifetimeMillis: 6_000,
      barredRetryMillis: 500,
    },
  },
  {
    play: playSlow,
    times: 3_000,
    options: {
      acquireTimeoutMillis: 100_000,
      openTimeoutMillis: 100_000,
      channelTimeoutMillis: 60_000,
      drainTimeoutMillis: 4_000,
      closeGraceMillis: 60_000,
      backoffMinMillis: 1_000,
      maxLifetimeMillis: LIFETIME_MILLIS,
      maxConnecting: 1,
      maxOpening: 1,
    },
  },
]

const machines = { tunnel: tunnelMachine, destination: destinationMachine }
type Which = keyof typeof machines
type Kind = 'actions' | 'guards'
/** A word of a machine. */
type Word = readonly [which: Which, kind: Kind, name: string]

const words = (Object.entries(machines) as Array<[Which, typeof tunnelMachine]>).flatMap(([which, { implementations }]) =>
  (['actions', 'guards'] as const).flatMap((kind) => Object.keys(implementations[kind]).map((name): Word => [which, kind, name])),
)

function changesOf([which, kind, name]: Word, sabotage: Sabotage): MachineChanges {
  const change = kind === 'actions' ? sabotage.action.bind(sabotage) : sabotage.guard.bind(sabotage)
  return { [which]: (machine: never) => change(machine, name) }
}

/** Plays a piece with one word sabotaged for one host; what is wrong after it. */
async function sabotaged(
  piece: Piece,
  word: Word,
  when: When,
  [victim, other, fresh, jump]: readonly [FleetHost, FleetHost, FleetHost, FleetHost],
): Promise<{ wrong: string[]; wasTouched: boolean }> {
  const port = victim.target.port ?? 0
  const sabotage = new Sabotage(port, when)
  const stubborn = new Stubborn(port)
  const clock = new IdleClock(piece.times)
  const replacements = { machines: changesOf(word, sabotage), clock, transport: stubborn.transport }
  const pool = track(new Pool(piece.options, replacements))
  const outcomes = new Outcomes(clock)
  const wrong: string[] = []
  const must = async (what: string, promise: Promise<unknown>) => {
    await promise.catch((error) => wrong.push(`${what}: ${error?.stack ?? error}`))
  }
  await must('the others', piece.play({ pool, victim, other, jump, outcomes, stubborn }))
  await must('a fresh destination', check(pool, fresh))
  await must('close', pool.close())
  await must(
    'the ledger',
    until(() => pool.resources().length === 0, { what: 'the ledger is empty' }),
  )
  const { destinations, tunnels, leases, waiting } = pool.stats
  const left = [...Object.values(destinations), ...Object.values(tunnels), leases, waiting]
  if (left.some((count) => count !== 0)) wrong.push(`still counted: ${JSON.stringify(pool.stats)}`)
  wrong.push(...outcomes.hung.map((what) => `never settled: ${what}`))
  return { wrong: wrong.map((line) => `${word.join(' ')}, ${when}: ${line}`), wasTouched: sabotage.thrown > 0 }
}

/** Has every piece played for every word, which throws at each call or at one only; gives what was not reached by then. */
export function playAll(when: When): ReadonlySet<string> {
  const untouched = new Set(words.map((word) => word.join(' ')))
  let coming: Word[] = []
  // When the time is up they must not go on beside the tests that come next.
  afterEach(() => {
    coming = []
  })

  for (const piece of pieces) {
    // Of what takes minutes there is no second call.
    if (piece.play === playSlow && when !== 'always') continue
    it(`${piece.play.name}: harms nobody else, and leaves nothing`, async () => {
      await using fleet = await startFleet({ hosts: 2 * words.length + 2 })
      const [other, fresh, ...victims] = fleet.hosts as [FleetHost, FleetHost, ...FleetHost[]]
      coming = [...words]
      const wrong: string[] = []
      const stage = async () => {
        for (let word = coming.shift(); word !== undefined; word = coming.shift()) {
          const [victim, jump] = victims.splice(-2) as [FleetHost, FleetHost]
          const result = await sabotaged(piece, word, when, [victim, other, fresh, jump])
          wrong.push(...result.wrong)
          if (result.wasTouched) untouched.delete(word.join(' '))
        }
      }
      await Promise.all(Array.from({ length: STAGES }, stage))
      assert.deepEqual(wrong, [])
    })
  }
  return untouched
}
