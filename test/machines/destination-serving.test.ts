import assert from 'node:assert/strict'
import { DestinationWorld, servingWorld } from './destination-world.ts'
import { turn } from './gates.ts'

describe('destination machine: serving', () => {
  it('serves when it opens, when the tunnel is proven, and when a dial is forced', async () => {
    const world = await servingWorld()
    assert.equal(world.times('serve'), 1)
    world.tunnel(1).send({ type: 'tunnel.verify' })
    world.probe.last().open()
    await turn()
    assert.equal(world.times('serve'), 2)
    world.send({ type: 'dial.forced' })
    assert.equal(world.times('serve'), 3)
    assert.equal(world.known.isWanted, true)
  })

  it('ignores what another generation tells of itself', async () => {
    const world = await servingWorld()
    const told = { generation: 99, code: 'ERR_LOST', wasOpen: true }
    world.send(
      { type: 'tunnel.proven', generation: 99 },
      { type: 'tunnel.opened', generation: 99 },
      { type: 'tunnel.draining', ...told },
      { type: 'tunnel.ended', ...told },
    )
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.known.current, 1)
    assert.equal(world.times('serve'), 1)
    assert.equal(world.times('grantExclusive'), 0)
  })

  it('is dormant as soon as its tunnel drains, while that lives beside it', async () => {
    const world = await servingWorld()
    world.isReleasing = false
    await world.lost(1)
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.current, undefined)
    assert.deepEqual(world.known.live, [1])
    world.isReleasing = true
    await world.settle()
    assert.deepEqual(world.known.live, [])
    assert.deepEqual(
      world.done.filter(([name]) => name === 'depart'),
      [['depart', 1]],
    )
  })

  it('is dormant, too, when all it hears is the end', async () => {
    const world = await servingWorld()
    world.send({ type: 'tunnel.ended', generation: 1, code: undefined, wasOpen: true })
    assert.equal(world.state, 'dormant')
    assert.deepEqual([world.known.current, world.known.live, world.times('depart')], [undefined, [], 1])
  })

  it('takes a loss for no failure: the first redial is immediate, and only for somebody', async () => {
    const world = await servingWorld()
    await world.lost(1)
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.failures, 0)
    const wanted = (await servingWorld()).want()
    await wanted.lost(1)
    assert.equal(wanted.state, 'dialing.queued')
    assert.equal(wanted.admission.last().input.isFailing, false)
    assert.equal(wanted.times('failWaiters'), 0)
  })

  it('redials with back-off what opens again and again and serves nobody', async () => {
    const world = new DestinationWorld().want()
    const lose = async () => {
      const generation = await world.admit()
      await world.opened(generation)
      await world.lost(generation)
    }
    await lose()
    assert.equal(world.state, 'dialing.queued')
    for (const longest of [250, 500, 1_000]) {
      await lose()
      assert.equal(world.state, 'dialing.pausing')
      assert.equal(world.pass(longest + 1).state, 'dialing.queued')
    }
    assert.equal(world.known.failures, 0)
    await world.opened(await world.admit())
    await world
      .send({ type: 'dial.unwanted' })
      .want()
      .lost(world.known.current ?? 0)
    assert.equal(world.state, 'dialing.queued')
  })

  it('forgets failures once it has been open for the longest back-off, and not before', async () => {
    const world = new DestinationWorld().want()
    await world.failed(await world.admit())
    world.pass(world.known.restMillis + 1).want()
    await world.opened(await world.admit())
    assert.equal(world.pass(29_999).known.failures, 1)
    assert.equal(world.pass(1).known.failures, 0)
  })
})
