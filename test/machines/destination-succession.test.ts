import assert from 'node:assert/strict'
import { DestinationWorld, servingWorld } from './destination-world.ts'

const QUEUED = 'serving.succeeding.queued'
const OPENING = 'serving.succeeding.opening'

/** Serves generation 1, and generation 2 is being dialled to succeed it. */
async function succeedingWorld(
  force = false,
  times: ConstructorParameters<typeof DestinationWorld>[0] = {},
): Promise<DestinationWorld> {
  const world = (await servingWorld(times)).retire(force)
  assert.equal(await world.admit(), 2)
  assert.equal(world.state, OPENING)
  return world
}

describe('destination machine: succession', () => {
  it('dials the successor first: it becomes current, and the old one drains', async () => {
    const world = await succeedingWorld()
    assert.equal(world.known.current, 1)
    assert.equal(world.tunnelState(1), 'open.idle')
    world.isReleasing = false
    await world.opened(2)
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.known.current, 2)
    assert.equal(world.tunnelState(1), 'draining.releasing.graceful')
    assert.equal(world.tunnel(1).getSnapshot().context.reason, 'retired')
    assert.equal(world.times('serve'), 2)
    world.isReleasing = true
    await world.settle()
    assert.deepEqual(world.known.live, [2])
    assert.equal(world.times('failSuccession'), 0)
  })

  it('makes one successor for all who want one', async () => {
    const world = (await servingWorld()).retire().retire().retire(true)
    assert.equal(world.state, QUEUED)
    assert.equal(world.admission.calls.length, 2)
    await world.admit()
    world.retire()
    assert.equal(world.admission.calls.length, 2)
    await world.opened(2)
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.dial.calls.length, 2)
  })

  it('lets the old one go on when the successor does not open, which is no failure of the destination', async () => {
    const world = await succeedingWorld()
    await world.failed(2)
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.known.current, 1)
    assert.equal(world.known.failures, 0)
    assert.deepEqual(
      world.done.filter(([name]) => name === 'failSuccession'),
      [['failSuccession', 2]],
    )
    assert.equal(world.times('failWaiters'), 0)
    assert.equal(world.retire().state, QUEUED)
  })

  it('drains the old one regardless when it was forced', async () => {
    const world = await succeedingWorld(true)
    await world.failed(2)
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.current, undefined)
    assert.equal(world.known.dialing, undefined)
    assert.deepEqual(world.known.live, [])
    assert.equal(world.times('failSuccession'), 1)
    const joined = (await succeedingWorld()).retire(true)
    await joined.failed(2)
    assert.equal(joined.state, 'dormant')
  })

  it('drains the old one and bars when the host has another key', async () => {
    const world = await succeedingWorld()
    world.isReleasing = false
    await world.failed(2, 'ERR_HOST_KEY')
    assert.equal(world.state, OPENING)
    world.isReleasing = true
    await world.settle()
    assert.equal(world.state, 'barred.shut')
    assert.deepEqual([world.known.live, world.known.current, world.known.dialing], [[], undefined, undefined])
    assert.deepEqual([world.known.failures, world.times('failWaiters'), world.times('failSuccession')], [1, 1, 1])
  })

  it('waits for the successor when the old one is lost meanwhile', async () => {
    const world = (await succeedingWorld()).want()
    await world.lost(1)
    assert.equal(world.state, 'dialing.opening')
    assert.equal(world.known.current, undefined)
    assert.equal(world.admission.calls.length, 2)
    await world.opened(2)
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.known.current, 2)
  })

  it('waits for it, too, when all it hears of the old one is its end', async () => {
    const world = await succeedingWorld()
    world.send({ type: 'tunnel.ended', generation: 1, code: undefined, wasOpen: true })
    assert.equal(world.state, 'dialing.opening')
    assert.deepEqual([world.known.current, world.known.live, world.times('depart')], [undefined, [2], 1])
  })

  it('stands in line for its place like a healthy one: the current one serves', async () => {
    const world = new DestinationWorld().want()
    await world.failed(await world.admit())
    world.pass(world.known.restMillis + 1)
    await world.opened(await world.admit())
    world.retire()
    assert.equal(world.known.failures, 1)
    assert.equal(world.admission.last().input.isFailing, false)
  })

  it('judges the successor like any dial once the old one is lost', async () => {
    const world = (await succeedingWorld(true)).want()
    await world.lost(1)
    await world.failed(2)
    assert.match(world.state, /^resting/)
    assert.equal(world.times('failWaiters'), 1)
  })

  it('dials anew, for who wants it, when the old one is lost before there was a place', async () => {
    const idle = (await servingWorld()).retire()
    await idle.lost(1)
    assert.equal(idle.state, 'dormant')
    assert.equal(idle.admission.last().signal.aborted, true)
    const wanted = (await servingWorld()).retire().want()
    await wanted.lost(1)
    assert.equal(wanted.state, 'dialing.queued')
    assert.equal(wanted.admission.calls.length, 3)
  })

  it('closes first when there is no room for two', async () => {
    const world = await servingWorld()
    world.hasNoRoom = true
    world.isReleasing = false
    await world.retire().settle()
    assert.equal(world.state, 'dormant')
    assert.equal(world.known.current, undefined)
    assert.equal(world.tunnelState(1), 'draining.releasing.graceful')
    assert.equal(world.admission.calls.length, 1)
    assert.equal(world.times('failSuccession'), 0)
  })

  for (const [force, state] of [
    [false, 'serving.steady'],
    [true, 'dormant'],
  ] as const) {
    it(`comes to ${state} when there is no place to dial in, ${force ? '' : 'not '}forced`, async () => {
      const world = (await servingWorld()).retire(force)
      world.admission.last().fail(new Error('a bug'))
      await world.settle()
      assert.equal(world.state, state)
      assert.equal(world.times('failSuccession'), 1)
    })
  }

  it('fails with a successor whose remains will not die', async () => {
    const world = await succeedingWorld()
    world.isReleasing = false
    await world.failed(2)
    world.pass(1_000)
    assert.equal(world.tunnelState(2), 'draining.releasing.stuck')
    assert.equal(world.state, 'serving.steady')
    assert.deepEqual(world.known.stuck, [2])
    assert.equal(world.known.dialing, undefined)
    assert.equal(world.times('failSuccession'), 1)
    assert.equal(world.times('announceStuck'), 1)
    assert.equal(world.retire().state, QUEUED)
  })

  it('is not for a generation that drains by itself', async () => {
    const world = await servingWorld()
    world.isReleasing = false
    await world.lost(1)
    assert.equal(world.retire().state, 'dormant')
    assert.equal(world.admission.calls.length, 1)
  })

  it('is not ended by what other generations tell', async () => {
    const world = await succeedingWorld()
    const told = { generation: 99, code: 'ERR_LOST', wasOpen: false }
    world.send({ type: 'tunnel.opened', generation: 99 }, { type: 'tunnel.ended', ...told }, { type: 'tunnel.stuck', ...told })
    assert.equal(world.state, OPENING)
  })
})
