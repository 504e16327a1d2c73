import assert from 'node:assert/strict'
import { poolMachine } from '../../machines/pool.ts'
import { turn } from './gates.ts'
import { startPool } from './pool-world.ts'

describe('pool machine', () => {
  it('has four states at the top, the last of them final', () => {
    assert.deepEqual(Object.keys(poolMachine.states), ['serving', 'draining', 'destroying', 'closed'])
    assert.equal(poolMachine.states.closed?.type, 'final')
  })

  it('drains its destinations, frees its own, and is closed', async () => {
    const pool = startPool()
    assert.equal(pool.state(), 'serving')
    pool.close(10_000)
    assert.equal(pool.state(), 'draining')
    assert.deepEqual(pool.told, [{ type: 'registry.drain', withinMillis: 10_000, graceMillis: 1_000 }])
    pool.emptied()
    assert.equal(pool.state(), 'destroying.freeing')
    assert.equal(pool.release.last().input.force, false)
    pool.release.last().open()
    await turn()
    assert.equal(pool.state(), 'closed')
    assert.equal(pool.told.length, 1)
  })

  it('destroys what has not drained in time', () => {
    const pool = startPool()
    pool.close(10_000)
    pool.pass(9_999)
    assert.equal(pool.state(), 'draining')
    pool.pass(1)
    assert.equal(pool.state(), 'destroying.forcing')
    assert.deepEqual(pool.told.at(-1), { type: 'registry.destroy', reason: 'the pool was closed' })
  })

  it('lets asking and forcing share the grace when there is no time to drain', () => {
    const pool = startPool()
    pool.close(0)
    assert.deepEqual(pool.told, [{ type: 'registry.drain', withinMillis: 0, graceMillis: 500 }])
    pool.pass(999)
    assert.equal(pool.state(), 'draining')
    pool.pass(1)
    assert.equal(pool.state(), 'destroying.forcing')
  })

  it('is shortened by a second close, and never lengthened', () => {
    const pool = startPool()
    pool.close(Number.POSITIVE_INFINITY)
    pool.pass(1e9)
    pool.close(10_000)
    pool.pass(5_000)
    pool.close(60_000)
    assert.equal(pool.told.length, 3)
    pool.pass(4_999)
    assert.equal(pool.state(), 'draining')
    pool.pass(1)
    assert.equal(pool.state(), 'destroying.forcing')
  })

  for (const [how, begin] of [
    ['serving', () => {}],
    ['draining', (pool: ReturnType<typeof startPool>) => pool.close(10_000)],
  ] as const)
    for (const event of [
      { type: 'pool.destroy', reason: 'at once' },
      { type: 'pool.fault', message: 'at once' },
    ] as const) {
      it(`destroys from ${how} by ${event.type}`, () => {
        const pool = startPool()
        begin(pool)
        pool.actor.send(event)
        assert.equal(pool.state(), 'destroying.forcing')
        assert.deepEqual(pool.told.at(-1), { type: 'registry.destroy', reason: 'at once' })
      })
    }

  it('asks first for its own, forces after half the grace, and tries again after 1 s, doubling to 60 s', () => {
    const pool = startPool()
    pool.destroy()
    pool.emptied()
    pool.pass(499)
    assert.equal(pool.state(), 'destroying.freeing')
    pool.pass(1)
    assert.equal(pool.state(), 'destroying.forced')
    assert.equal(pool.release.last().input.force, true)
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      pool.pass(wait)
      assert.equal(pool.state(), 'destroying.holding')
      pool.pass(wait - 1)
      assert.equal(pool.state(), 'destroying.holding')
      pool.pass(1)
      assert.equal(pool.state(), 'destroying.forced')
    }
  })

  it('forces its own when asking fails, or when it is destroyed meanwhile', async () => {
    const failing = startPool()
    failing.destroy()
    failing.emptied()
    failing.release.last().fail(new Error('cannot ask'))
    await turn()
    assert.equal(failing.state(), 'destroying.forced')
    failing.release.last().fail(new Error('cannot force'))
    await turn()
    assert.equal(failing.state(), 'destroying.holding')
    const hurried = startPool()
    hurried.close(0)
    hurried.emptied()
    hurried.destroy()
    assert.equal(hurried.state(), 'destroying.forced')
    hurried.destroy()
    assert.equal(hurried.release.calls.length, 2)
  })

  it('is closed at once when what it waits for goes by itself', async () => {
    const pool = startPool()
    pool.destroy()
    pool.emptied()
    pool.pass(500)
    pool.pass(1_000)
    assert.equal(pool.state(), 'destroying.holding')
    assert.equal(pool.release.last().input.force, false)
    pool.release.last().open()
    await turn()
    assert.equal(pool.state(), 'closed')
  })

  it('destroys when its registry breaks', () => {
    const pool = startPool()
    pool.breakRegistry()
    pool.close(10_000)
    assert.equal(pool.state(), 'destroying.forcing')
  })
})
