import assert from 'node:assert/strict'
import type { DestinationEvent } from '../../machines/events.ts'
import { DestinationWorld, failedWorld, restingWorld, servingWorld } from './destination-world.ts'
import { turn } from './gates.ts'

const LEAVE: DestinationEvent = { type: 'destination.leave', withinMillis: 10_000, graceMillis: 1_000, reason: 'the pool closes' }
const DESTROY: DestinationEvent = { type: 'destination.destroy', reason: 'at once' }
const FAULT: DestinationEvent = { type: 'destination.fault', message: 'a bug' }

const opening = async () => {
  const world = new DestinationWorld().want()
  await world.admit()
  return world
}
const succeeding = async () => {
  const world = (await servingWorld()).retire()
  await world.admit()
  return world
}

/** Every state that it may be told to leave in. */
const states: ReadonlyArray<[state: string, enter: () => Promise<DestinationWorld>]> = [
  ['dormant', async () => new DestinationWorld()],
  ['dialing.queued', async () => new DestinationWorld().want()],
  ['dialing.opening', opening],
  ['serving.steady', () => servingWorld()],
  ['serving.succeeding.queued', async () => (await servingWorld()).retire()],
  ['serving.succeeding.opening', succeeding],
  ['resting.hushed', () => restingWorld(2_000)],
  ['resting.ready', async () => (await restingWorld(2_000)).pass(1_000)],
  ['barred.shut', () => failedWorld(['ERR_HOST_KEY'])],
  ['barred.ready', async () => (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)],
  [
    'dialing.spreading',
    async () => {
      const world = new DestinationWorld()
      world.mayDialNow = false
      return world.want()
    },
  ],
]

describe('destination machine: leaving', () => {
  for (const [state, enter] of states)
    for (const event of [LEAVE, DESTROY, FAULT]) {
      it(`leaves ${state} by ${event.type}, and is left when every tunnel has ended`, async () => {
        const world = await enter()
        assert.equal(world.state, state)
        await world.admitExclusive()
        assert.equal(world.state, state)
        world.isReleasing = false
        world.send(event)
        await world.settle()
        assert.equal(world.state, 'leaving')
        assert.equal(world.times('dismissWaiters'), 1)
        for (const generation of world.known.live) assert.match(world.tunnelState(generation), /^draining\.releasing/)
        world.isReleasing = true
        await world.settle()
        assert.equal(world.state, 'left')
        assert.deepEqual([world.known.live, Object.keys(world.actor.getSnapshot().children)], [[], []])
        assert.equal(world.actor.getSnapshot().status, 'done')
      })
    }

  it('lets leases finish when it leaves, and not when it is destroyed after all', async () => {
    const world = await servingWorld()
    world.tunnel(1).send({ type: 'lease.taken', generation: 1, lease: 'lease-1' })
    world.send(LEAVE)
    assert.equal(world.tunnelState(1), 'draining.finishing')
    world.send({ ...LEAVE, withinMillis: 100 })
    world.isReleasing = false
    world.pass(100)
    assert.equal(world.tunnelState(1), 'draining.releasing.graceful')
    world.send(DESTROY)
    assert.equal(world.tunnelState(1), 'draining.releasing.forced')
    world.send(FAULT)
    assert.equal(world.times('dismissWaiters'), 1)
    world.isReleasing = true
    await world.settle()
    assert.equal(world.state, 'left')
  })

  it('is not left while a tunnel will not die', async () => {
    const world = await servingWorld()
    world.isReleasing = false
    await world.send(DESTROY).settle()
    for (let minute = 0; minute < 60; minute += 1) assert.equal(world.pass(60_000).state, 'leaving')
    world.isReleasing = true
    await world.settle()
    assert.equal(world.state, 'left')
  })

  it('takes in nobody any more', async () => {
    const world = await servingWorld()
    world.isReleasing = false
    await world.send(DESTROY).settle()
    world.force().retire().send({ type: 'exclusive.admitted', generation: 50 }, { type: 'destination.reset' })
    assert.equal(world.state, 'leaving')
    assert.deepEqual(world.known.live, [1])
    assert.equal(world.admission.calls.length, 1)
  })

  it('hears, when a throw of ours made it deaf, of what has ended meanwhile', async () => {
    const world = await servingWorld()
    const child = world.tunnel(1)
    // As if the transition that took in its end had thrown: the tunnel is final, and still counted.
    Object.assign(child, { getSnapshot: () => ({ status: 'done' }) })
    world.send(FAULT)
    assert.equal(world.state, 'left')
    assert.equal(world.times('depart'), 1)
  })

  it('has a broken tunnel freed, and is not left before', async () => {
    const world = await servingWorld()
    Object.assign(world.tunnel(1), { getSnapshot: () => ({ status: 'error' }) })
    world.send(FAULT)
    assert.equal(world.state, 'leaving')
    assert.equal(world.times('autopsy'), 1)
    world.send({ type: 'tunnel.ended', generation: 1, code: 'ERR_LOST', wasOpen: true })
    assert.equal(world.state, 'left')
  })
})

describe('destination machine: forgetting', () => {
  it('leaves when nobody has wanted it for ten minutes', async () => {
    const world = await servingWorld()
    await world.pass(3_600_000).lost(1)
    assert.equal(world.pass(599_999).state, 'dormant')
    assert.equal(world.pass(1).state, 'left')
  })

  it('starts those ten minutes anew each time it is used, and counts no others', async () => {
    const world = new DestinationWorld().pass(599_999).want()
    await world.failed(await world.admit())
    world.send({ type: 'dial.unwanted' }).pass(world.known.restMillis + 1)
    assert.equal(world.pass(599_998).state, 'dormant')
    assert.equal(world.pass(3).state, 'left')
  })

  it('stays while something of it lives, and goes ten minutes after it was last asked', async () => {
    for (const enter of [async () => new DestinationWorld(), async () => (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)]) {
      const world = await enter()
      const exclusive = await world.admitExclusive()
      world.isReleasing = false
      await world.pass(600_000).pass(600_000).settle()
      assert.match(world.state, /^(dormant|barred.ready)$/)
      world.tunnel(exclusive).send({ type: 'tunnel.destroy', reason: 'nobody waits for it' })
      world.isReleasing = true
      await turn()
      await world.settle()
      assert.equal(world.pass(600_000).state, 'left')
    }
  })

  it('keeps a bar until its pause has ended', async () => {
    const world = await failedWorld(['ERR_HOST_KEY'], { barredRetryMillis: 3_600_000 })
    assert.equal(world.pass(3_599_999).state, 'barred.shut')
    world.pass(1)
    assert.equal(world.pass(599_999).state, 'barred.ready')
    assert.equal(world.pass(1).state, 'left')
  })
})
