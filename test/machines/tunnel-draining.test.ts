import assert from 'node:assert/strict'
import { failure, turn } from './gates.ts'
import { openTunnel, TunnelWorld } from './tunnel-world.ts'

const GRACEFUL = 'draining.releasing.graceful'
const FORCED = 'draining.releasing.forced'
const STUCK = 'draining.releasing.stuck'

const finishing = async (input: ConstructorParameters<typeof TunnelWorld>[0] = {}) => (await openTunnel(input)).take().close()

describe('tunnel machine: finishing', () => {
  it('takes no new lease and ends with the last one out', async () => {
    const world = (await finishing()).take()
    assert.equal(world.giveBack(6).state, 'draining.finishing')
    assert.equal(world.giveBack().state, GRACEFUL)
    assert.equal(world.release.last().input.force, false)
  })

  it('is bounded: the leases that are left are cut', async () => {
    const world = await finishing()
    assert.equal(world.pass(9_999).cuts, 0)
    assert.equal(world.pass(1).state, GRACEFUL)
    assert.equal(world.cuts, 1)
  })

  it('is bounded by the close that names a bound, and by the usual time after a fault', async () => {
    assert.equal((await openTunnel()).take().close({ withinMillis: 0 }).pass(1).state, GRACEFUL)
    const faulted = (await openTunnel()).take().send({ type: 'lease.faulted', generation: 7, lease: 'lease-1' })
    assert.equal(faulted.pass(9_999).state, 'draining.finishing')
    assert.equal(faulted.pass(1).state, GRACEFUL)
  })

  it('is shortened by a second close, and never lengthened', async () => {
    const shorter = (await finishing()).pass(5_000).close({ withinMillis: 1_000 })
    assert.equal(shorter.pass(999).state, 'draining.finishing')
    assert.equal(shorter.pass(1).state, GRACEFUL)
    const longer = (await finishing()).pass(5_000).close({ withinMillis: 60_000 })
    assert.equal(longer.pass(4_999).state, 'draining.finishing')
    assert.equal(longer.pass(1).state, GRACEFUL)
  })

  it('never ends by time when that is Infinity, until a second close says otherwise', async () => {
    const world = await finishing({ times: { drainTimeoutMillis: Number.POSITIVE_INFINITY } })
    assert.equal(world.pass(1e12).state, 'draining.finishing')
    assert.equal(world.close({ withinMillis: 100 }).pass(100).state, GRACEFUL)
  })

  it('takes the shortest grace of all closes', async () => {
    const first = (await openTunnel()).close({ graceMillis: 300 })
    assert.equal(first.pass(299).state, GRACEFUL)
    assert.equal(first.pass(1).state, FORCED)
    const world = (await finishing()).close({ graceMillis: 500 }).close({ graceMillis: 60_000 }).giveBack()
    assert.equal(world.pass(499).state, GRACEFUL)
    assert.equal(world.pass(1).state, FORCED)
  })

  it('ends by force when the tunnel is lost or destroyed, and then the loss is what is told', async () => {
    const lost = (await finishing()).lose('ERR_RESET')
    assert.equal(lost.state, FORCED)
    assert.equal(lost.known.code, 'ERR_RESET')
    assert.equal((await finishing()).lose('ERR_RESET', 6).state, 'draining.finishing')
    const destroyed = (await finishing()).send({ type: 'tunnel.destroy', reason: 'at once' })
    assert.equal(destroyed.state, FORCED)
    assert.equal(destroyed.known.reason, 'at once')
  })
})

describe('tunnel machine: releasing', () => {
  it('asks first, forces when the grace is over, and is stuck when that does not help in a second', async () => {
    const world = (await openTunnel()).close()
    assert.equal(world.pass(999).state, GRACEFUL)
    assert.equal(world.pass(1).state, FORCED)
    assert.deepEqual(
      world.release.calls.map(({ input }) => input.force),
      [false, true],
    )
    assert.equal(world.pass(999).state, FORCED)
    assert.equal(world.pass(1).state, STUCK)
    assert.deepEqual(world.news, ['opened', 'draining', 'stuck'])
  })

  it('forces when asking fails, and is stuck when forcing fails', async () => {
    const world = (await openTunnel()).close()
    world.release.last().fail(new Error('cannot ask'))
    await turn()
    assert.equal(world.state, FORCED)
    world.release.last().fail(new Error('cannot force'))
    await turn()
    assert.equal(world.state, STUCK)
  })

  it('tries again after 1 s, doubling to 60 s, for ever', async () => {
    const world = (await openTunnel()).lose().pass(1_000)
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]) {
      assert.equal(world.state, STUCK)
      assert.equal(world.pass(wait - 1).state, STUCK)
      assert.equal(world.pass(1).state, FORCED)
      assert.equal(world.release.last().input.force, true)
      assert.equal(world.pass(1_000).state, STUCK)
    }
  })

  it('ends at once when what was stuck dies by itself', async () => {
    const world = (await openTunnel()).lose().pass(1_000).pass(1_000).pass(1_000)
    assert.equal(world.state, STUCK)
    assert.equal(world.release.last().input.force, false)
    assert.equal((await world.released()).state, 'failed')
  })

  it('stays stuck, and still tries again, when even waiting fails', async () => {
    const world = (await openTunnel()).lose().pass(1_000)
    world.release.last().fail(new Error('cannot wait'))
    await turn()
    assert.equal(world.state, STUCK)
    assert.equal(world.pass(1_000).state, FORCED)
  })

  it('is hurried by destroy: from asking to forcing, and out of a long wait', async () => {
    const asked = (await openTunnel()).close().send({ type: 'tunnel.destroy', reason: 'at once' })
    assert.equal(asked.state, FORCED)
    const stuck = (await openTunnel()).lose().pass(1_000).send({ type: 'tunnel.destroy', reason: 'at once' })
    assert.equal(stuck.state, FORCED)
    assert.equal(stuck.known.code, 'ERR_LOST')
  })

  it('is never told as ended while it is stuck', async () => {
    const world = (await openTunnel()).lose()
    for (let hour = 0; hour < 3_600; hour += 1) world.pass(1_000)
    assert.equal(world.news.includes('ended'), false)
    assert.equal(world.tunnel.getSnapshot().status, 'active')
  })

  it('settles only with an empty scope: what came into it late is forced', async () => {
    const world = (await openTunnel()).close()
    world.isHeld = true
    await world.released()
    assert.equal(world.state, FORCED)
    world.isHeld = false
    assert.equal((await world.released()).state, 'closed')
  })

  it('does not take what its own release brings for a cause', async () => {
    const world = (await openTunnel()).close().lose('ERR_RESET')
    world.send({ type: 'lease.faulted', generation: 7, lease: 'lease-1' }).take().giveBack()
    assert.equal(world.state, GRACEFUL)
    assert.equal((await world.released()).state, 'closed')
  })

  it('keeps the first cause when our own code throws during the release', async () => {
    const world = new TunnelWorld()
    world.dial.last().fail(failure('ERR_HOST_KEY'))
    await turn()
    world.send({ type: 'tunnel.fault', message: 'a bug' })
    assert.equal(world.state, FORCED)
    assert.equal(world.known.code, 'ERR_HOST_KEY')
    assert.deepEqual(world.news, ['draining'])
  })

  it('outlives the error of a child whose state it has left', async () => {
    const world = (await openTunnel()).close()
    const late = {
      type: 'xstate.error.actor.0.tunnel.opening.dialing',
      error: new Error('late'),
      actorId: '0.tunnel.opening.dialing',
    }
    world.send(late as never)
    assert.equal(world.tunnel.getSnapshot().status, 'active')
    assert.equal(world.state, GRACEFUL)
  })

  for (const [what, end, state, output] of [
    ['closed', (world: TunnelWorld) => world.close(), 'closed', { reason: 'closed by the test', code: undefined }],
    ['lost', (world: TunnelWorld) => world.lose('ERR_RESET'), 'failed', { reason: 'lost', code: 'ERR_RESET' }],
  ] as const) {
    it(`ends as ${state} when it was ${what}, with reason and code`, async () => {
      const world = end(await openTunnel())
      await world.released()
      assert.equal(world.state, state)
      assert.deepEqual(world.tunnel.getSnapshot().output, { generation: 7, ...output })
      assert.deepEqual(world.told.at(-1), { type: 'tunnel.ended', generation: 7, code: output.code, wasOpen: true })
      assert.equal(world.guardian, 'freed')
    })
  }
})

describe('tunnel machine: its guardian', () => {
  for (const [where, enter] of [
    ['opening', async () => new TunnelWorld()],
    ['open', () => openTunnel()],
    ['draining', finishing],
  ] as const) {
    it(`runs when somebody stops the actor in ${where}`, async () => {
      const world = await enter()
      assert.equal(world.guardian, 'watching')
      world.stopFromOutside()
      assert.equal(world.guardian, 'freed')
      assert.equal(world.dial.last().signal.aborted, where === 'opening')
    })
  }
})
