import assert from 'node:assert/strict'
import { DestinationWorld, failedWorld, restingWorld, servingWorld } from './destination-world.ts'

describe('destination machine: exclusive tunnels', () => {
  it('live beside whatever it is doing, and are never current', async () => {
    const world = new DestinationWorld()
    const generation = await world.admitExclusive()
    assert.equal(world.state, 'dormant')
    assert.equal(world.tunnel(generation).getSnapshot().context.isExclusive, true)
    await world.opened(generation)
    assert.deepEqual(world.done, [['grantExclusive', generation]])
    assert.equal(world.known.current, undefined)
    const serving = await servingWorld()
    const second = await serving.admitExclusive()
    await serving.opened(second)
    assert.equal(serving.known.current, 1)
    assert.equal(serving.tunnel(1).getSnapshot().context.isExclusive, false)
    await serving.lost(second)
    assert.equal(serving.state, 'serving.steady')
    assert.deepEqual(serving.known.live, [1])
  })

  it('fail their claim wherever the destination is, stuck or not, and count for nothing while it serves', async () => {
    const world = await servingWorld()
    await world.failed(await world.admitExclusive())
    assert.deepEqual(
      world.done.filter(([name]) => name === 'failExclusive'),
      [['failExclusive', 2]],
    )
    const stuck = await world.admitExclusive()
    world.isReleasing = false
    await world.failed(stuck)
    world.pass(1_000)
    assert.deepEqual(world.done.at(-2), ['failExclusive', stuck])
    assert.deepEqual([world.known.stuck, world.known.failures, world.state], [[stuck], 0, 'serving.steady'])
  })

  it('are granted while another dial or a succession is under way, which goes on', async () => {
    for (const world of [new DestinationWorld().want(), (await servingWorld()).retire()]) {
      await world.admit()
      const { state } = world
      await world.opened(await world.admitExclusive())
      assert.equal(world.times('grantExclusive'), 1)
      assert.equal(world.state, state)
    }
  })

  it('bring the back-off and the bar where theirs is the only dial', async () => {
    const resting = new DestinationWorld()
    await resting.failed(await resting.admitExclusive())
    assert.equal(resting.state, 'resting.hushed')
    assert.equal(resting.known.failures, 1)
    assert.equal(resting.times('failExclusive'), 1)
    const barred = new DestinationWorld()
    await barred.failed(await barred.admitExclusive(), 'ERR_HOST_KEY')
    assert.equal(barred.state, 'barred.shut')
    const stuck = new DestinationWorld()
    stuck.isReleasing = false
    await stuck.failed(await stuck.admitExclusive())
    assert.equal(stuck.pass(1_000).state, 'resting.hushed')
    assert.deepEqual(stuck.known.stuck, [1])
    stuck.pass(stuck.known.restMillis + 1).isReleasing = true
    await stuck.settle()
    assert.equal(stuck.state, 'dormant')
    assert.equal(stuck.known.failures, 1)
  })

  it('do not renew a rest, and are barred by what no retry mends', async () => {
    const world = await restingWorld(9_000)
    const { restMillis } = world.known
    await world.failed(await world.admitExclusive())
    assert.equal(world.known.restMillis, restMillis)
    assert.equal(world.known.failures, 1)
    await world.failed(await world.admitExclusive(), 'ERR_KEY_FORMAT')
    assert.equal(world.state, 'barred.shut')
    assert.deepEqual([world.known.failures, world.known.live, world.times('failExclusive')], [2, [], 2])
  })

  it('are the one attempt that a bar allows after its pause', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)
    await world.failed(await world.admitExclusive())
    assert.equal(world.state, 'barred.shut')
    world.pass(300_000)
    await world.opened(await world.admitExclusive())
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.isBarred, false)
    assert.equal(world.times('grantExclusive'), 1)
  })

  it('bar by refused logins like any other dial', async () => {
    const world = new DestinationWorld()
    for (const pause of [60_000, 60_000, 0]) {
      await world.failed(await world.admitExclusive(), 'ERR_AUTH')
      world.pass(pause)
    }
    assert.equal(world.state, 'barred.shut')
  })

  it('do not end a rest or a bar when it was not they that opened', async () => {
    for (const world of [await restingWorld(9_000), await failedWorld(['ERR_HOST_KEY'])]) {
      const { state } = world
      assert.equal(world.send({ type: 'tunnel.opened', generation: 99 }).state, state)
      assert.equal(world.times('grantExclusive'), 0)
    }
  })

  it('end a rest when they open', async () => {
    const world = await restingWorld(9_000)
    await world.opened(await world.admitExclusive())
    assert.equal(world.state, 'dormant')
    assert.equal(world.times('grantExclusive'), 1)
  })

  it('leave the dial under way to be judged by itself', async () => {
    const world = new DestinationWorld().want()
    const shared = await world.admit()
    await world.failed(await world.admitExclusive(), 'ERR_HOST_KEY')
    assert.equal(world.state, 'dialing.opening')
    assert.equal(world.known.failures, 0)
    await world.opened(shared)
    assert.equal(world.state, 'serving.steady')
  })

  it('that are given up, or end after they were open, are no failures', async () => {
    const world = new DestinationWorld()
    const aborted = await world.admitExclusive()
    world.tunnel(aborted).send({ type: 'tunnel.destroy', reason: 'nobody waits for it' })
    await world.settle()
    const lost = await world.admitExclusive()
    await world.opened(lost)
    await world.lost(lost)
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.failures, 0)
    assert.deepEqual([world.known.live, world.known.exclusive], [[], []])
  })
})
