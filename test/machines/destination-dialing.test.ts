import assert from 'node:assert/strict'
import { destinationMachine } from '../../machines/destination.ts'
import { DestinationWorld } from './destination-world.ts'

describe('destination machine: dialing', () => {
  it('has six states and a final one at the top', () => {
    assert.deepEqual(Object.keys(destinationMachine.states), [
      'dormant',
      'dialing',
      'serving',
      'resting',
      'barred',
      'leaving',
      'left',
    ])
    assert.equal(destinationMachine.states.left?.type, 'final')
  })

  it('is dormant until somebody wants it, and dials once for all who do', async () => {
    const world = new DestinationWorld()
    assert.equal(world.state, 'dormant')
    world.want().want().want()
    assert.equal(world.state, 'dialing.queued')
    assert.equal(world.admission.calls.length, 1)
    const generation = await world.admit()
    assert.equal(world.state, 'dialing.opening')
    world.want().send({ type: 'dial.forced' })
    await world.opened(generation)
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.known.current, generation)
    assert.equal(world.known.dialing, undefined)
    assert.equal(world.dial.calls.length, 1)
    assert.equal(world.times('serve'), 1)
  })

  it('takes a forced dial for somebody who wants one, where nothing is in its way', async () => {
    const world = new DestinationWorld().send({ type: 'dial.forced' })
    assert.equal(world.state, 'dialing.queued')
    await world.admit()
    world.send({ type: 'dial.unwanted' }, { type: 'dial.forced' }).pass(10_000)
    assert.equal(world.state, 'dialing.opening')
    assert.equal(world.known.isWanted, true)
  })

  it('spreads the dial when it may not dial now', () => {
    const world = new DestinationWorld()
    world.mayDialNow = false
    assert.equal(world.want().pass(249).state, 'dialing.spreading')
    assert.equal(world.admission.calls.length, 0)
    assert.equal(world.pass(1).state, 'dialing.queued')
  })

  it('goes on for a second when nobody waits any more, then gives the dial up', async () => {
    const world = new DestinationWorld().want()
    const generation = await world.admit()
    world.send({ type: 'dial.unwanted' }).pass(999)
    assert.equal(world.state, 'dialing.opening')
    world.isReleasing = false
    world.pass(1)
    assert.equal(world.state, 'dormant')
    assert.equal(world.dial.last().signal.aborted, true)
    assert.equal(world.tunnelState(generation), 'draining.releasing.forced')
    assert.equal(world.tunnel(generation).getSnapshot().context.reason, 'nobody waits for it')
    assert.equal(world.known.dialing, undefined)
    world.isReleasing = true
    await world.settle()
    assert.deepEqual(world.known.live, [])
    assert.equal(world.times('failWaiters'), 0)
    assert.equal(world.known.failures, 0)
  })

  it('gives its place back when it is given up in the queue', () => {
    const world = new DestinationWorld().want().send({ type: 'dial.unwanted' }).pass(1_000)
    assert.equal(world.state, 'dormant')
    assert.equal(world.admission.last().signal.aborted, true)
  })

  it('lets whoever comes back within that second have the dial', async () => {
    const world = new DestinationWorld().want()
    const generation = await world.admit()
    world.send({ type: 'dial.unwanted' }).pass(999).want().pass(10_000)
    assert.equal(world.state, 'dialing.opening')
    assert.equal(world.known.isWanted, true)
    await world.opened(generation)
    assert.equal(world.state, 'serving.steady')
  })

  it('starts that second anew each time', async () => {
    const world = new DestinationWorld().want()
    await world.admit()
    world.send({ type: 'dial.unwanted' }).pass(900).want().send({ type: 'dial.unwanted' })
    assert.equal(world.pass(999).state, 'dialing.opening')
    assert.equal(world.pass(1).state, 'dormant')
  })

  it('does not let the second of one dial end the next one', async () => {
    const world = new DestinationWorld().want()
    const generation = await world.admit()
    world.send({ type: 'dial.unwanted' }).pass(500)
    await world.opened(generation)
    await world.lost(generation)
    world.want().pass(10_000)
    assert.equal(world.state, 'dialing.queued')
  })

  it('does not lend a dial that began before a retire: it is drained, and dialled again', async () => {
    const world = new DestinationWorld().want()
    const old = await world.admit()
    world.retire()
    world.isReleasing = false
    await world.opened(old)
    assert.equal(world.times('serve'), 0)
    assert.equal(world.state, 'dialing.queued')
    assert.equal(world.tunnelState(old), 'draining.releasing.graceful')
    assert.equal(world.tunnel(old).getSnapshot().context.reason, 'retired')
    assert.equal(world.known.dialing, undefined)
    world.isReleasing = true
    const young = await world.admit()
    await world.opened(young)
    assert.equal(world.known.current, young)
    assert.deepEqual(world.known.live, [young])
  })

  it('lends a dial whose retire came before it had a place', async () => {
    const world = new DestinationWorld().want().retire()
    await world.opened(await world.admit())
    assert.equal(world.state, 'serving.steady')
  })

  it('dials again, for who still waits, what was ended from elsewhere without a failure', async () => {
    const world = new DestinationWorld().want()
    const generation = await world.admit()
    world.tunnel(generation).send({ type: 'tunnel.close', reason: 'by somebody' })
    await world.settle()
    assert.equal(world.state, 'dialing.queued')
    assert.deepEqual([world.known.dialing, world.known.live, world.known.failures], [undefined, [], 0])
    assert.equal(world.times('failWaiters'), 0)
  })

  it('ignores a retire where there is nothing to retire', async () => {
    const world = new DestinationWorld()
    assert.equal(world.retire(true).state, 'dormant')
    world.want()
    await world.failed(await world.admit())
    assert.equal(world.retire(true).state, 'resting.hushed')
    assert.equal(world.known.mustGo, false)
  })
})
