import assert from 'node:assert/strict'
import { restAfter } from '../../machines/verdict.ts'
import { DestinationWorld, failedWorld, restingWorld } from './destination-world.ts'

const TIMES = { backoffMinMillis: 250, backoffMaxMillis: 30_000, barredRetryMillis: 0, maxLifetimeMillis: 0 }

describe('destination machine: back-off', () => {
  it('is exponential with full jitter, up to the longest', () => {
    for (const [failures, longest] of [
      [1, 250],
      [2, 500],
      [3, 1_000],
      [7, 16_000],
      [8, 30_000],
      [5_000, 30_000],
    ] as const) {
      const rests = Array.from({ length: 2_000 }, () => restAfter(failures, TIMES))
      assert.ok(rests.every((rest) => rest >= 0 && rest <= longest))
      assert.ok(Math.max(...rests) > 0.95 * longest, 'the whole range')
      assert.ok(Math.min(...rests) < 0.05 * longest, 'from nothing')
    }
  })

  it('is a number whatever the bounds are', () => {
    for (const backoffMinMillis of [0, 250, Number.POSITIVE_INFINITY])
      for (const backoffMaxMillis of [0, 30_000, Number.POSITIVE_INFINITY])
        for (const failures of [1, 2, 5_000])
          assert.ok(restAfter(failures, { ...TIMES, backoffMinMillis, backoffMaxMillis }) >= 0)
    assert.equal(restAfter(5_000, { ...TIMES, backoffMinMillis: 0 }), 0)
    const never = { ...TIMES, backoffMinMillis: Number.POSITIVE_INFINITY, backoffMaxMillis: Number.POSITIVE_INFINITY }
    assert.equal(restAfter(1, never), Number.POSITIVE_INFINITY)
  })

  it('begins with a failed dial, which rejects all who wait with its own error', async () => {
    const world = new DestinationWorld().want()
    const generation = await world.admit()
    await world.failed(generation)
    assert.equal(world.state, 'resting.hushed')
    assert.equal(world.known.code, 'ERR_REFUSED')
    assert.equal(world.known.dialing, undefined)
    assert.deepEqual(
      world.done.filter(([name]) => name !== 'failExclusive'),
      [
        ['failWaiters', generation],
        ['depart', generation],
      ],
    )
  })

  it('begins with a dial that never got a place', async () => {
    const world = new DestinationWorld().want()
    world.admission.last().fail(new Error('a bug'))
    await world.settle()
    assert.equal(world.state, 'resting.hushed')
    assert.equal(world.times('failWaiters'), 1)
    assert.equal(world.known.failures, 1)
  })

  it('ends with its time, and then whoever still waits is dialled for', async () => {
    const world = (await restingWorld(2_000)).want()
    assert.equal(world.pass(world.known.restMillis - 1).state, 'resting.ready')
    assert.equal(world.admission.calls.length, 1)
    world.pass(2)
    assert.equal(world.state, 'dialing.queued')
    assert.equal(world.admission.last().input.isFailing, true)
  })

  it('leaves it dormant when nobody waits', async () => {
    const world = await failedWorld(['ERR_REFUSED'])
    assert.equal(world.pass(world.known.restMillis + 1).state, 'dormant')
    assert.equal(world.known.failures, 1)
  })

  it('is ended by a forced dial, at most once a second after a failure', async () => {
    const world = (await restingWorld(3_000)).force().force()
    assert.equal(world.pass(999).state, 'resting.hushed')
    assert.equal(world.pass(1).state, 'dialing.queued')
    await world.failed(await world.admit())
    assert.equal(world.send({ type: 'dial.unwanted' }).state, 'resting.hushed')
    const later = (await restingWorld(3_000)).pass(1_500)
    assert.equal(later.want().state, 'resting.ready')
    assert.equal(later.force().state, 'dialing.queued')
  })

  it('is not ended by a forced dial that has been made and failed', async () => {
    const world = (await restingWorld(3_000)).pass(1_500).send({ type: 'dial.forced' })
    assert.equal(world.known.isWanted, true)
    await world.failed(await world.admit())
    assert.equal(world.known.isForced, false)
  })

  it('is not ended by a forced dial that nobody waits for any more', async () => {
    const world = (await restingWorld(3_000)).force().send({ type: 'dial.unwanted' })
    assert.equal(world.pass(1_000).state, 'resting.ready')
  })

  it('is lifted by reset, with all that was counted', async () => {
    const world = await failedWorld(['ERR_REFUSED', 'ERR_AUTH'])
    world.send({ type: 'destination.reset' })
    assert.equal(world.state, 'dormant')
    assert.deepEqual([world.known.failures, world.known.authFailures, world.known.code], [0, 0, undefined])
  })

  it('does not leave timers behind, however often it fails', async () => {
    const world = await failedWorld(['ERR_AUTH', ...Array(50).fill('ERR_REFUSED')])
    const timers = () => Object.keys(world.actor.system.getSnapshot()._scheduledEvents).length
    assert.ok(timers() <= 4, `${timers()} timers`)
  })
})
