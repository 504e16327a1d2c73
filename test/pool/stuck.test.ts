import assert from 'node:assert/strict'
import type { TunnelPool } from '../../src/api/pool.ts'
import type { Target } from '../../src/api/target.ts'
import { until } from '../support/until.ts'
import { Undying } from './stalls.ts'
import { listen, makeFastPool, named, rejection, startHost } from './world.ts'

/** A target over streams that do not end before the test ends them. */
function undying(target: Target): { target: Target; streams: Undying[]; dieAll: () => void } {
  const streams: Undying[] = []
  const connect: Target['connect'] = async (to) => {
    const stream = await Undying.dial(to)
    streams.push(stream)
    return stream
  }
  return { target: { ...target, connect }, streams, dieAll: () => streams.map((stream) => stream.die()) }
}

describe('something that will not die', () => {
  for (const [how, end] of [
    ['close', (pool) => pool.close({ timeoutMillis: 400 })],
    ['destroy', (pool) => pool.destroy()],
  ] as Array<[string, (pool: TunnelPool) => Promise<void>]>) {
    it(`has ${how} reject with ERR_STUCK that lists it, is tried again, and may be awaited again`, async () => {
      await using site = await startHost()
      const { target, streams, dieAll } = undying(site.target)
      const pool = makeFastPool(8, { closeGraceMillis: 800 })
      const told = listen(pool)
      const lease = await pool.acquire(target)
      const began = performance.now()
      const error = await rejection(end(pool), 'ERR_STUCK')
      assert.ok(performance.now() - began < 500)
      assert.match(error.message, /socket stream to 127\.0\.0\.1:\d+/)
      assert.equal(error.phase, 'close')
      assert.ok(lease.signal.aborted)
      assert.equal(pool.resources().length, 1)
      const calls = streams[0]?.destroyCalls ?? 0
      assert.ok(calls > 0)
      await until(() => pool.report().tunnels[0]?.why?.startsWith('stuck') === true)
      assert.equal(pool.report().tunnels[0]?.state, 'draining')
      assert.equal(pool.stats.closed, 0)
      await rejection(end(pool), 'ERR_STUCK')
      // Tried again meanwhile.
      await until(() => (streams[0]?.destroyCalls ?? 0) > calls, { within: 5_000 })
      const again = pool.close({ timeoutMillis: 60_000 })
      dieAll()
      await again
      assert.deepEqual(pool.resources(), [])
      assert.equal(named(told, 'tunnel.stuck').length, 1)
      assert.equal(named(told, 'tunnel.stuck')[0]?.resources.length, 1)
      assert.equal(named(told, 'tunnel.closed').length, 1)
      assert.equal(named(told, 'tunnel.closed')[0]?.forced, true)
    })
  }

  it('does not keep its destination from the next generation, up to three', async () => {
    await using site = await startHost()
    const { target, dieAll } = undying(site.target)
    const pool = makeFastPool(10, { closeGraceMillis: 50, idleTimeoutMillis: 6_000_000 })
    for (let generation = 1; generation <= 3; generation += 1) {
      const lease = await pool.acquire(target)
      assert.equal(lease.generation, generation)
      lease.release(new Error('not this one'))
      await until(() => pool.report().tunnels.every(({ why }) => why?.startsWith('stuck')))
    }
    await rejection(pool.acquire(target), 'ERR_STUCK')
    await rejection(pool.acquire(target, { exclusive: true }), 'ERR_STUCK')
    dieAll()
    await until(() => pool.report().tunnels.length === 0, { within: 5_000 })
    const lease = await pool.acquire(target)
    assert.equal(lease.generation, 4)
    lease.release()
    const closing = pool.close()
    dieAll()
    await closing
  })

  it('does not keep others from their room: another idle tunnel goes in its stead', async () => {
    await using site = await startHost()
    await using other = await startHost()
    await using third = await startHost()
    const { target, dieAll } = undying(site.target)
    const pool = makeFastPool(8, { maxTunnels: 2, closeGraceMillis: 50 })
    ;(await pool.acquire(target)).release()
    ;(await pool.acquire(other.target)).release()
    const lease = await pool.acquire(third.target)
    assert.equal(pool.health(other.target).state, 'dormant')
    assert.equal(
      pool.report().tunnels.find(({ destination }) => destination.includes(`:${site.target.port}#`))?.state,
      'draining',
    )
    lease.release()
    const closing = pool.close({ timeoutMillis: 60_000 })
    dieAll()
    await closing
  })
})
