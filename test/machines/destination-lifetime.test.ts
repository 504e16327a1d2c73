import assert from 'node:assert/strict'
import { servingWorld } from './destination-world.ts'

const QUEUED = 'serving.succeeding.queued'

describe('destination machine: lifetime', () => {
  const times = { maxLifetimeMillis: 60_000 }

  it('ends with a successor when somebody uses the tunnel', async () => {
    const world = await servingWorld(times)
    assert.equal(world.pass(59_999).state, 'serving.steady')
    assert.equal(world.pass(1).state, QUEUED)
    await world.opened(await world.admit())
    assert.equal(world.known.current, 2)
    assert.equal(world.pass(59_999).state, 'serving.steady')
    assert.equal(world.pass(1).state, QUEUED)
  })

  it('just closes a tunnel that nobody uses', async () => {
    const world = await servingWorld(times)
    world.isIdle = true
    await world.pass(60_000).settle()
    assert.equal(world.state, 'dormant')
    assert.equal(world.admission.calls.length, 1)
    assert.deepEqual(world.known.live, [])
  })

  it('is tried again after the longest back-off when no successor opened', async () => {
    const world = (await servingWorld(times)).pass(60_000)
    for (let tries = 0; tries < 3; tries += 1) {
      await world.failed(await world.admit())
      assert.equal(world.pass(29_999).state, 'serving.steady')
      assert.equal(world.pass(1).state, QUEUED)
    }
    await world.opened(await world.admit())
    assert.equal(world.pass(30_001).state, 'serving.steady')
  })

  it('is not forgotten when it passes while a retire is under way that fails', async () => {
    const world = (await servingWorld(times)).pass(59_000).retire()
    await world.admit()
    assert.equal(world.pass(1_000).admission.calls.length, 2)
    await world.failed(2)
    assert.equal(world.state, 'serving.steady')
    assert.equal(world.pass(30_000).state, QUEUED)
  })

  it('is not made up for by a retire that failed before it', async () => {
    const world = (await servingWorld(times)).retire()
    await world.failed(await world.admit())
    assert.equal(world.pass(59_999).state, 'serving.steady')
    assert.equal(world.pass(1).state, QUEUED)
  })
})
