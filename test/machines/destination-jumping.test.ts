import assert from 'node:assert/strict'
import { DestinationWorld } from './destination-world.ts'
import { failure } from './gates.ts'

const behind = (times = {}) => new DestinationWorld(times, true)
const jumpGone = (jump: 'lost' | 'draining') => Object.assign(new Error('gone'), { jump })

/** Serves generation 1 through its jump. */
async function servingBehind(): Promise<DestinationWorld> {
  const world = behind().want()
  await world.jumped()
  await world.opened(await world.admit())
  return world.send({ type: 'dial.unwanted' })
}

describe('destination machine: behind a jump', () => {
  it('asks for no place before it has its jump, however long that takes, and its deadline begins after that', async () => {
    const world = behind().want()
    assert.equal(world.state, 'dialing.jumping')
    world.pass(1e9)
    await world.settle()
    assert.deepEqual([world.state, world.admission.calls.length, world.known.live], ['dialing.jumping', 0, []])
    await world.jumped()
    assert.deepEqual([world.state, world.admission.calls.length], ['dialing.queued', 1])
    await world.opened(await world.admit())
    assert.equal(world.state, 'serving.steady')
  })

  it('without one it never waits for one', () => {
    const world = new DestinationWorld().want()
    assert.deepEqual([world.state, world.jump.calls.length], ['dialing.queued', 0])
  })

  it('takes it for no failure of its own that the jump cannot be had', async () => {
    const world = behind().want()
    world.send({ type: 'dial.unwanted' })
    world.jump.last().fail(failure('ERR_AUTH'))
    await world.settle()
    assert.deepEqual([world.state, world.known.failures, world.known.authFailures], ['dormant', 0, 0])
    assert.equal(world.times('failWaiters'), 0)
  })

  it('tries again for whoever has come meanwhile', async () => {
    const world = behind().want()
    world.jump.last().fail(failure('ERR_REFUSED'))
    await world.settle()
    assert.deepEqual([world.state, world.jump.calls.length], ['dialing.jumping', 2])
  })

  it('stays barred when it was, and the one attempt did not get to its jump', async () => {
    const world = behind()
    world.want()
    await world.jumped()
    await world.failed(await world.admit(), 'ERR_HOST_KEY')
    world.send({ type: 'dial.unwanted' }).pass(300_000)
    assert.equal(world.state, 'barred.ready')
    world.force()
    assert.equal(world.state, 'dialing.jumping')
    world.jump.last().fail(failure('ERR_REFUSED'))
    await world.settle()
    assert.equal(world.state, 'barred.shut')
  })

  it('goes for another lease at once when the jump drains while it is in line, and when it is lost, which must not go on and on', async () => {
    const world = behind().want()
    for (const jump of ['draining', 'lost'] as const) {
      await world.jumped()
      assert.equal(world.state, 'dialing.queued')
      world.admission.last().fail(jumpGone(jump))
      await world.settle()
      assert.deepEqual([world.state, world.known.failures], ['dialing.jumping', 0])
    }
    await world.jumped()
    world.admission.last().fail(jumpGone('lost'))
    await world.settle()
    assert.deepEqual([world.state, world.known.vain], ['dialing.pausing', 2])
    world.pass(30_000)
    assert.equal(world.state, 'dialing.jumping')
    world.send({ type: 'dial.unwanted' })
  })

  it('a jump that is lost under its dial fails neither the destination nor who waits, and the next dial is immediate', async () => {
    const world = behind().want()
    await world.jumped()
    const generation = await world.admit()
    world.tunnel(generation).send({ type: 'tunnel.lost', generation, code: 'ERR_LOST', isJumps: true })
    await world.settle()
    assert.deepEqual([world.state, world.known.failures, world.known.vain], ['dialing.jumping', 0, 1])
    assert.equal(world.times('failWaiters'), 0)
    assert.deepEqual(world.known.live, [])
  })

  it('nor does one that is lost under an exclusive dial, also while it is barred', async () => {
    const world = behind()
    const generation = await world.admitExclusive()
    world.tunnel(generation).send({ type: 'tunnel.lost', generation, code: 'ERR_LOST', isJumps: true })
    await world.settle()
    assert.deepEqual([world.state, world.known.failures, world.times('failExclusive')], ['dormant', 0, 1])
  })

  it('gives the jump back when nobody waits any more, and when it leaves', async () => {
    const world = behind().want()
    world.send({ type: 'dial.unwanted' }).pass(1_000)
    assert.deepEqual([world.state, world.times('letJumpGo'), world.jump.last().signal.aborted], ['dormant', 1, true])
    world.want().send({ type: 'destination.destroy', reason: 'at once' })
    assert.deepEqual([world.state, world.times('letJumpGo'), world.jump.last().signal.aborted], ['left', 2, true])
  })

  it('a successor goes through the jump, too; without it the old generation goes on', async () => {
    const world = await servingBehind()
    world.retire()
    assert.equal(world.state, 'serving.succeeding.jumping')
    world.jump.last().fail(failure('ERR_REFUSED'))
    await world.settle()
    assert.deepEqual([world.state, world.known.current, world.times('failSuccession')], ['serving.steady', 1, 1])
    world.retire()
    await world.jumped()
    world.admission.last().fail(jumpGone('draining'))
    await world.settle()
    assert.equal(world.state, 'serving.succeeding.jumping')
    await world.jumped()
    await world.opened(await world.admit())
    assert.equal(world.known.current, 2)
  })
})
