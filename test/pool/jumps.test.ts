import assert from 'node:assert/strict'
import type { TunnelPool } from '../../src/index.ts'
import { until } from '../support/until.ts'
import { startChain, TRANSPORTS } from './chain.ts'
import { check, listen, makePool, named, rejection } from './world.ts'

/** What tunnels hold: the pool's own directory stays until it is closed. */
const ofTunnels = (pool: TunnelPool) => pool.resources().filter(({ owner }) => owner !== 'pool')
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

for (const transport of TRANSPORTS)
  describe(`jumps (${transport})`, () => {
    it('are one login for all behind them, along the whole chain', async () => {
      await using chain = await startChain({ hosts: 12, hops: 2 })
      await using pool = makePool({ transport })
      const leases = await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      await Promise.all(leases.map((lease, index) => check(lease, chain.hosts[index]?.http ?? assert.fail())))
      assert.deepEqual(
        chain.hops.map(({ counts }) => [counts.logins, counts.connections]),
        [
          [1, 1],
          [1, 1],
        ],
      )
      assert.deepEqual(
        chain.hops.map(({ counts }) => counts.openChannels),
        [1, 12],
      )
      assert.deepEqual([pool.stats.tunnels.open, pool.stats.leases, pool.stats.opened], [14, 12, 14])
    })

    it('are reached through each other, and hosts through them alone', async () => {
      await using chain = await startChain({ hops: 2 })
      await using pool = makePool({ transport })
      await using lease = await pool.acquire(chain.targets[0] ?? assert.fail())
      assert.equal((await lease.exec('echo through')).stdout.toString(), 'through\n')
      // One connection to the outermost, of ours or of the one ssh that needs no other, and none of ours beyond.
      const sockets = pool.resources().filter(({ kind, label }) => kind === 'socket' && label.startsWith('tcp '))
      assert.deepEqual(
        sockets.map(({ label }) => label),
        transport === 'ssh2' ? [`tcp 127.0.0.1:${chain.hops[0]?.target.port}`] : [],
      )
      assert.deepEqual(
        [...chain.hops, ...chain.hosts].map(({ counts }) => counts.connections),
        [1, 1, 1],
      )
      assert.equal(pool.health(chain.targets[0] ?? assert.fail()).remoteAddress, undefined)
    })

    it('are the tunnels of whoever acquires the hop itself', async () => {
      await using chain = await startChain()
      const [hop] = chain.hops
      assert.ok(hop)
      await using pool = makePool({ transport })
      await using direct = await pool.acquire(hop.target)
      await using behind = await pool.acquire(chain.targets[0] ?? assert.fail())
      assert.notEqual(direct.destination, behind.destination)
      assert.equal(hop.counts.logins, 1)
      assert.deepEqual([pool.stats.leases, pool.stats.tunnels.open], [2, 2])
    })

    it('stay as long as a target is open behind them, and idle out after the last', async () => {
      await using chain = await startChain({ hosts: 2, hops: 2 })
      await using pool = makePool({ transport, idleTimeoutMillis: 100 })
      const told = listen(pool)
      const [one, other] = await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      assert.ok(one && other)
      one.release()
      await until(() => pool.stats.tunnels.open === 3)
      await check(other, chain.hosts[1]?.http ?? assert.fail())
      other.release()
      await until(() => pool.stats.closed === 4)
      const closed = named(told, 'tunnel.closed')
      assert.deepEqual(
        closed.map(({ reason, forced }) => [reason, forced]),
        Array.from({ length: 4 }, () => ['idle', false]),
      )
      const [outer, inner] = chain.hops.map(({ target }) => `${target.user}@${target.host}:${target.port}#`)
      assert.ok(outer && inner)
      assert.ok(closed[2]?.destination.startsWith(inner) && closed[3]?.destination.startsWith(outer))
      assert.deepEqual(ofTunnels(pool), [])
    })

    it("do not hold the process, and are nobody's leases; the report says for whom they are held", async () => {
      await using chain = await startChain()
      await using pool = makePool({ transport })
      const told = listen(pool)
      const lease = await pool.acquire(chain.targets[0] ?? assert.fail())
      assert.deepEqual(
        pool.report().leases.map(({ label }) => label),
        [undefined, `jump of ${lease.destination}`],
      )
      lease.release()
      assert.equal(pool.stats.leases, 0)
      await until(() => named(told, 'lease.released').length === 1)
      assert.equal(named(told, 'lease.acquired').length, 1)
    })

    it('that are not shared are dialled for each target, chain by chain, and go with it', async () => {
      await using chain = await startChain({ hosts: 3, hops: 2 })
      await using pool = makePool({ transport, shareJumps: false, idleTimeoutMillis: 50 })
      const leases = await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      await Promise.all(leases.map((lease, index) => check(lease, chain.hosts[index]?.http ?? assert.fail())))
      assert.deepEqual(
        chain.hops.map(({ counts }) => counts.logins),
        [3, 3],
      )
      leases[0]?.release()
      await until(() => pool.stats.tunnels.open === 6)
      for (const lease of leases) lease.release()
      await until(() => pool.stats.closed === 9 && ofTunnels(pool).length === 0)
      assert.equal(sum(chain.hops.map(({ counts }) => counts.openChannels)), 0)
    })

    it('and their target must fit into the pool', async () => {
      await using chain = await startChain({ hops: 2 })
      await using pool = makePool({ transport, maxTunnels: 2 })
      const error = await rejection(pool.acquire(chain.targets[0] ?? assert.fail()), 'ERR_POOL_EXHAUSTED')
      assert.match(error.message, /and its jumps do not fit into maxTunnels \(2\)/)
      assert.equal(chain.hops[0]?.counts.connections, 0)
    })
  })
