import assert from 'node:assert/strict'
import { restAfter } from '../../machines/verdict.ts'
import { DestinationWorld, failedWorld, failOnce, restingWorld, servingWorld } from './destination-world.ts'

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

describe('destination machine: the bar', () => {
  for (const code of ['ERR_HOST_KEY', 'ERR_KEY_FORMAT', 'ERR_UNSUPPORTED', 'ERR_SSH_MISSING']) {
    it(`comes at once with ${code}`, async () => {
      assert.equal((await failedWorld([code])).state, 'barred.shut')
    })
  }

  for (const code of ['ERR_REFUSED', 'ERR_OPEN_TIMEOUT', 'ERR_DNS', 'ERR_RESET', 'ERR_KEX', 'ERR_LOCAL_LIMIT', 'ERR_AGENT']) {
    it(`never comes with ${code}`, async () => {
      assert.match((await failedWorld(Array(9).fill(code))).state, /^resting/)
    })
  }

  it('comes with refused logins only after three, of which the first is a minute old', async () => {
    const quick = await failedWorld(Array(9).fill('ERR_AUTH'), { backoffMaxMillis: 0, backoffMinMillis: 0 })
    assert.match(quick.state, /^(resting|dormant)/)
    const two = await failedWorld(['ERR_AUTH'])
    two.pass(60_000)
    await failOnce(two, 'ERR_AUTH')
    assert.match(two.state, /^resting/)
    await failOnce(two, 'ERR_AUTH')
    assert.equal(two.state, 'barred.shut')
  })

  it('takes the minute from the first refused login, not from another failure before it', async () => {
    const world = await failedWorld(['ERR_REFUSED'])
    world.pass(60_000)
    for (let count = 0; count < 3; count += 1) await failOnce(world, 'ERR_AUTH')
    assert.match(world.state, /^resting/)
  })

  it('takes the minute from the first refused login since the last reset', async () => {
    const world = await failedWorld(['ERR_AUTH'])
    world.pass(50_000).send({ type: 'destination.reset' })
    for (let count = 0; count < 2; count += 1) await failOnce(world, 'ERR_AUTH')
    world.pass(15_000)
    assert.equal(world.known.authIsOld, false)
    await failOnce(world, 'ERR_AUTH')
    assert.match(world.state, /^resting/)
    world.pass(60_000)
    await failOnce(world, 'ERR_AUTH')
    assert.equal(world.state, 'barred.shut')
  })

  it('stays whoever wants a dial, until reset', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).force().pass(299_999)
    assert.equal(world.state, 'barred.shut')
    assert.equal(world.admission.calls.length, 1)
    world.send({ type: 'destination.reset' })
    assert.equal(world.state, 'dialing.queued')
    assert.equal(world.known.isBarred, false)
  })

  it('allows one attempt after its pause, to who insists, and survives its failure', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)
    assert.equal(world.state, 'barred.ready')
    assert.equal(world.want().state, 'barred.ready')
    assert.equal(world.force().state, 'dialing.queued')
    await world.failed(await world.admit(), 'ERR_REFUSED')
    assert.equal(world.send({ type: 'dial.unwanted' }).state, 'barred.shut')
    assert.equal(world.force().state, 'barred.shut')
  })

  it('survives an attempt that was given up', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000).force()
    await world.admit()
    world.send({ type: 'dial.unwanted' }).pass(1_000)
    assert.equal(world.state, 'barred.shut')
    assert.equal(world.known.dialing, undefined)
    await world.settle()
    assert.deepEqual(world.known.live, [])
  })

  it('is lifted by an attempt that opens, and by one that opens too late to be lent', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000).force()
    const generation = await world.admit()
    await world.opened(generation)
    assert.equal(world.known.isBarred, false)
    await world.lost(generation)
    await world.failed(await world.admit())
    assert.match(world.state, /^resting/)
    const retired = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000).force()
    const spoilt = await retired.admit()
    retired.retire()
    await retired.opened(spoilt)
    assert.equal(retired.known.isBarred, false)
  })

  it('never allows an attempt when its pause is Infinity', async () => {
    const world = await failedWorld(['ERR_HOST_KEY'], { barredRetryMillis: Number.POSITIVE_INFINITY })
    assert.equal(world.pass(1e12).force().state, 'barred.shut')
  })

  it('is not brought by the end of a tunnel that was open', async () => {
    const world = await servingWorld()
    await world.lost(1, 'ERR_HOST_KEY')
    assert.equal(world.state, 'dormant')
  })
})
