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

/** Three exclusive ones will not die. */
function stickExclusives(world: DestinationWorld): void {
  for (const generation of [91, 92, 93])
    world.send({ type: 'exclusive.admitted', generation }, { type: 'tunnel.stuck', generation, code: undefined, wasOpen: true })
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
      stickExclusives(world)
      world.force().pass(1_000)
      assert.equal(world.admission.calls.length, dials)
      assert.equal(world.times('refuseStuck'), 1)
      assert.equal(world.known.isWanted, false)
      assert.match(world.state, /^(resting|barred)/)
    })
  }

  it('makes no successor and no exclusive beside three of them', async () => {
    for (const [force, state] of [
      [false, 'serving.steady'],
      [true, 'dormant'],
    ] as const) {
      const world = await servingWorld()
      stickExclusives(world)
      assert.equal(world.retire(force).state, state)
      assert.equal(world.times('failSuccession'), 1)
      world.send({ type: 'exclusive.admitted', generation: 50 })
      assert.equal(world.times('refuseExclusive'), 1)
      assert.equal(world.known.live.includes(50), false)
    }
  })
})
