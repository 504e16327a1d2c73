import assert from 'node:assert/strict'
import { startFleet } from '../../src/testing/index.ts'
import { makePool, rejection } from './world.ts'

describe('warm', () => {
  it('dials ahead, and says what became of each, in the order of the targets', async () => {
    await using fleet = await startFleet({ hosts: 12 })
    await using pool = makePool({ maxConnecting: 3 })
    for (const index of [2, 7]) fleet.hosts[index]?.refuse()
    fleet.hosts[4]?.rotateHostKey()
    const outcomes = await pool.warm([...fleet.targets, fleet.targets[0] as never])
    assert.deepEqual(
      outcomes.map(({ error }) => error?.code),
      [
        undefined,
        undefined,
        'ERR_REFUSED',
        undefined,
        'ERR_HOST_KEY',
        undefined,
        undefined,
        'ERR_REFUSED',
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
      ],
    )
    for (const [index, { destination }] of outcomes.slice(0, -1).entries())
      assert.ok(destination.includes(`:${fleet.targets[index]?.port}#`))
    assert.equal(outcomes[12]?.destination, outcomes[0]?.destination)
    assert.equal(pool.stats.tunnels.open, 9)
    assert.equal(pool.stats.leases, 0)
    // What is warm is lent without a dial.
    for (const { host, index } of fleet.hosts.map((host, index) => ({ host, index }))) {
      if ([2, 4, 7].includes(index)) continue
      ;(await pool.acquire(host.target, { timeoutMillis: 0 })).release()
      assert.equal(host.counts.logins, 1)
    }
  })

  it('refuses more than maxTunnels before it dials any', async () => {
    await using fleet = await startFleet({ hosts: 3 })
    await using pool = makePool({ maxTunnels: 2 })
    await rejection(pool.warm(fleet.targets), 'ERR_POOL_EXHAUSTED')
    assert.ok(fleet.hosts.every(({ counts }) => counts.connections === 0))
    assert.equal((await pool.warm(fleet.targets.slice(1))).length, 2)
    assert.deepEqual(await pool.warm([]), [])
  })

  it('is ended by its signal: what is open stays, the rest is told so', async () => {
    await using fleet = await startFleet({ hosts: 6 })
    await using pool = makePool({ maxConnecting: 1 })
    fleet.hosts[3]?.freeze()
    const controller = new AbortController()
    pool.on('lease.acquired', ({ generation }) => {
      if (generation === 3) controller.abort()
    })
    const outcomes = await pool.warm(fleet.targets, { signal: controller.signal })
    assert.deepEqual(
      outcomes.map(({ error }) => error?.code),
      [undefined, undefined, undefined, 'ERR_ABORTED', 'ERR_ABORTED', 'ERR_ABORTED'],
    )
  })
})
