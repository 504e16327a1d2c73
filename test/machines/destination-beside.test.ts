import assert from 'node:assert/strict'
import { DestinationWorld, failedWorld, restingWorld, servingWorld } from './destination-world.ts'

/** Has so many tunnels that will not die, and nobody waits. */
async function stuckWorld(count: number): Promise<DestinationWorld> {
  const world = new DestinationWorld()
  world.isReleasing = false
  for (let made = 0; made < count; made += 1) {
    world.want()
    const generation = await world.admit()
    await world.opened(generation)
    world.send({ type: 'dial.unwanted' })
    await world.lost(generation)
    world.pass(1_000)
  }
  assert.equal(world.known.stuck.length, count)
  return world
}

describe('destination machine: stuck tunnels', () => {
  it('dials its next generation beside them, up to three', async () => {
    const two = (await stuckWorld(2)).want()
    assert.equal(two.state, 'dialing.queued')
    const three = (await stuckWorld(3)).want()
    assert.equal(three.state, 'dormant')
    assert.equal(three.times('refuseStuck'), 1)
    assert.equal(three.known.isWanted, false)
    three.want()
    assert.equal(three.times('refuseStuck'), 2)
  })

  it('dials again as soon as one of them is gone', async () => {
    const world = await stuckWorld(3)
    world.release.last(({ generation }) => generation === 2).open()
    await world.settle()
    assert.equal(world.known.stuck.length, 2)
    assert.equal(world.want().state, 'dialing.queued')
  })

  it('announces each of them, as often as it is stuck anew', async () => {
    const world = await stuckWorld(1)
    world.pass(1_000).pass(1_000)
    assert.deepEqual(world.known.stuck, [1])
    assert.equal(world.times('announceStuck'), 2)
  })

  it('keeps nobody waiting for a dial whose remains will not die', async () => {
    const world = new DestinationWorld().want()
    world.isReleasing = false
    await world.failed(await world.admit(), 'ERR_HOST_KEY')
    assert.equal(world.times('failWaiters'), 0)
    world.pass(1_000)
    assert.equal(world.state, 'barred.shut')
    assert.equal(world.times('failWaiters'), 1)
    world.isReleasing = true
    await world.settle()
    assert.equal(world.times('failWaiters'), 1)
    assert.deepEqual([world.known.live, world.known.stuck], [[], []])
  })

  for (const [where, enter] of [
    ['resting', async () => (await restingWorld(9_000)).pass(1_500)],
    ['resting in its first second', () => restingWorld(9_000)],
    ['barred', async () => (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)],
  ] as const) {
    it(`makes no forced dial beside three of them while ${where}`, async () => {
      const world = await enter()
      const dials = world.admission.calls.length
      for (const generation of [91, 92, 93]) world.send({ type: 'tunnel.stuck', generation, code: undefined, wasOpen: true })
      world.force().pass(1_000)
      assert.equal(world.admission.calls.length, dials)
      assert.equal(world.times('refuseStuck'), 1)
      assert.match(world.state, /^(resting|barred)/)
    })
  }

  it('makes no successor and no exclusive beside three of them', async () => {
    for (const [force, state] of [
      [false, 'serving.steady'],
      [true, 'dormant'],
    ] as const) {
      const world = await servingWorld()
      for (const generation of [91, 92, 93]) world.send({ type: 'tunnel.stuck', generation, code: undefined, wasOpen: true })
      assert.equal(world.retire(force).state, state)
      assert.equal(world.times('failSuccession'), 1)
      world.send({ type: 'exclusive.admitted', generation: 50 })
      assert.equal(world.times('refuseExclusive'), 1)
      assert.equal(world.known.live.includes(50), false)
    }
  })
})

describe('destination machine: exclusive tunnels', () => {
  it('live beside whatever it is doing, and are never current', async () => {
    const world = new DestinationWorld()
    const generation = await world.admitExclusive()
    assert.equal(world.state, 'dormant')
    await world.opened(generation)
    assert.deepEqual(world.done, [['grantExclusive', generation]])
    assert.equal(world.known.current, undefined)
    const serving = await servingWorld()
    const second = await serving.admitExclusive()
    await serving.opened(second)
    assert.equal(serving.known.current, 1)
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
  })

  it('are the one attempt that a bar allows after its pause', async () => {
    const world = (await failedWorld(['ERR_HOST_KEY'])).pass(300_000)
    await world.failed(await world.admitExclusive())
    assert.equal(world.state, 'barred.shut')
    world.pass(300_000)
    await world.opened(await world.admitExclusive())
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.isBarred, false)
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
