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
import { check, play, playRough, type Stage } from './scenario.ts'
import { Stubborn } from './stubborn.ts'

/** Played at once, each for one word after the other. */
const STAGES = 12

/** What no piece comes to: a minute passes for it, or it takes what cannot be brought about from outside. */
const NEVER_TOUCHED = [
  'destination actions noteAge',
  'destination actions refuseExclusive',
  'destination actions autopsy',
  'destination guards isOverdue',
  'destination guards mustGo',
  // Only a jump brings them about.
  'destination actions countVain',
  'destination guards isJumpLost',
]

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
  [victim, other, fresh]: readonly [FleetHost, FleetHost, FleetHost],
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
  await must('the others', piece.play({ pool, victim, other, outcomes, stubborn }))
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

describe('containment: a throw in any action or guard', function () {
  this.timeout(60_000)
  const untouched = new Set(words.map((word) => word.join(' ')))

  for (const piece of pieces)
    for (const when of ['always', 2] as const) {
      it(`${piece.play.name}, ${when === 'always' ? when : `the ${when}. time`}: harms nobody else, and leaves nothing`, async () => {
        await using fleet = await startFleet({ hosts: words.length + 2 })
        const [other, fresh, ...victims] = fleet.hosts as [FleetHost, FleetHost, ...FleetHost[]]
        const coming = [...words]
        const wrong: string[] = []
        const stage = async () => {
          for (let word = coming.shift(); word !== undefined; word = coming.shift()) {
            const victim = victims.pop() as FleetHost
            const result = await sabotaged(piece, word, when, [victim, other, fresh])
            wrong.push(...result.wrong)
            if (result.wasTouched) untouched.delete(word.join(' '))
          }
        }
        await Promise.all(Array.from({ length: STAGES }, stage))
        assert.deepEqual(wrong, [])
      })
    }

  it('also when nobody is left to hear of it', async () => {
    await using fleet = await startFleet({ hosts: 3 })
    const [victim, other, fresh] = fleet.hosts as [FleetHost, FleetHost, FleetHost]
    const clock = new IdleClock(20)
    const sabotages = [1, 2].map(() => new Sabotage(victim.target.port ?? 0, 'always')) as [Sabotage, Sabotage]
    const machines: MachineChanges = {
      tunnel: (machine) => sabotages[0].action(machine, 'tell'),
      destination: (machine) => sabotages[1].action(machine, 'autopsy'),
    }
    const pool = track(new Pool({ acquireTimeoutMillis: 5_000 }, { machines, clock }))
    const outcomes = new Outcomes(clock)
    await play({ pool, victim, other, outcomes, stubborn: new Stubborn(0) })
    await check(pool, fresh)
    await pool.close()
    assert.deepEqual(outcomes.hung, [])
    assert.ok(sabotages.every(({ thrown }) => thrown > 0))
  })

  it('was tried for every one', () => {
    assert.deepEqual([...untouched].sort(), NEVER_TOUCHED.toSorted())
  })
})
