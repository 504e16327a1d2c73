import assert from 'node:assert/strict'
import type { MachineChanges } from '../../src/actors/registry.ts'
import { Pool } from '../../src/pool.ts'
import { type FleetHost, startFleet } from '../../src/testing/index.ts'
import { track } from '../support/hooks.ts'
import { IdleClock } from '../support/idle-clock.ts'
import { CONTAINMENT_TIMEOUT_MILLIS, playAll } from './containment.ts'
import { Outcomes } from './outcomes.ts'
import { Sabotage } from './sabotage.ts'
import { check, play } from './scenario.ts'
import { Stubborn } from './stubborn.ts'

/** What no piece comes to: it takes what cannot be brought about from outside, or several successions in one turn. */
const NEVER_TOUCHED = [
  'destination actions refuseExclusive',
  'destination actions autopsy',
  'destination guards isJumpDraining',
  'destination guards mustGo',
]

describe('containment: a throw at each call of any action or guard', function () {
  this.timeout(CONTAINMENT_TIMEOUT_MILLIS)
  const untouched = playAll('always')

  it('also when nobody is left to hear of it', async () => {
    await using fleet = await startFleet({ hosts: 4 })
    const [victim, other, fresh, jump] = fleet.hosts as [FleetHost, FleetHost, FleetHost, FleetHost]
    const clock = new IdleClock(20)
    const sabotages = [1, 2].map(() => new Sabotage(victim.target.port ?? 0, 'always')) as [Sabotage, Sabotage]
    const machines: MachineChanges = {
      tunnel: (machine) => sabotages[0].action(machine, 'tell'),
      destination: (machine) => sabotages[1].action(machine, 'autopsy'),
    }
    const pool = track(new Pool({ acquireTimeoutMillis: 5_000 }, { machines, clock }))
    const outcomes = new Outcomes(clock)
    await play({ pool, victim, other, jump, outcomes, stubborn: new Stubborn(0) })
    await check(pool, fresh)
    await pool.close()
    assert.deepEqual(outcomes.hung, [])
    assert.ok(sabotages.every(({ thrown }) => thrown > 0))
  })

  it('was tried for every one', () => {
    assert.deepEqual([...untouched].sort(), NEVER_TOUCHED.toSorted())
  })
})
