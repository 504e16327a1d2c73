import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { startChain, TRANSPORTS } from './chain.ts'
import { check, listen, makePool, named, settling } from './world.ts'

for (const transport of TRANSPORTS)
  describe(`a chain that ends (${transport})`, () => {
    it('drains from its far end: the jump stays until the last lease behind it is back', async () => {
      await using chain = await startChain({ hosts: 2, hops: 2 })
      const pool = makePool({ transport, drainTimeoutMillis: 10_000 })
      const told = listen(pool)
      const leases = await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      const closing = pool.close()
      await until(() => pool.stats.tunnels.draining === 2)
      assert.equal(pool.stats.tunnels.open, 2)
      // What is under way goes on through jumps that are not asked to close yet.
      await Promise.all(leases.map((lease, index) => check(lease, chain.hosts[index]?.http ?? assert.fail())))
      leases[0]?.release()
      await until(() => pool.stats.closed === 1)
      assert.deepEqual([pool.stats.tunnels.open, pool.stats.tunnels.draining], [2, 1])
      leases[1]?.release()
      await closing
      const closed = named(told, 'tunnel.closed')
      assert.deepEqual(
        closed.slice(2).map(({ destination }) => destination.split('#')[0]),
        [chain.names[1], chain.names[0]],
      )
      assert.ok(closed.every(({ forced, reason }) => !forced && reason === 'the pool closes'))
      assert.deepEqual(named(told, 'tunnel.lost'), [])
    })

    it('tells its leases that the pool was closed, when their time is up, and nothing of a jump', async () => {
      await using chain = await startChain({ hops: 2 })
      const pool = makePool({ transport, drainTimeoutMillis: 50, closeGraceMillis: 1_000 })
      const told = listen(pool)
      const lease = await pool.acquire(chain.targets[0] ?? assert.fail())
      await pool.close()
      const { code, hop } = lease.signal.reason
      assert.deepEqual([code, hop], ['ERR_POOL_CLOSED', undefined])
      assert.deepEqual(named(told, 'tunnel.lost'), [])
    })

    it('ends at once by force, and is not stuck on a jump that does not answer', async () => {
      await using chain = await startChain({ hosts: 3, hops: 2 })
      const pool = makePool({ transport, closeGraceMillis: 300 })
      const told = listen(pool)
      await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      chain.hops[1]?.freeze()
      await pool.close({ timeoutMillis: 0 })
      assert.deepEqual([named(told, 'tunnel.stuck'), named(told, 'tunnel.lost'), pool.resources()], [[], [], []])
      chain.hops[1]?.thaw()
    })

    it('lets one target go through a jump that does not answer, while the jump is still up', async () => {
      await using chain = await startChain({ hosts: 2 })
      await using pool = makePool({ transport, closeGraceMillis: 100, idleTimeoutMillis: 50 })
      const told = listen(pool)
      const [one, other] = await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      chain.hops[0]?.freeze()
      one?.release()
      await until(() => pool.stats.closed === 1)
      assert.deepEqual([named(told, 'tunnel.stuck'), pool.stats.tunnels.open], [[], 2])
      chain.hops[0]?.thaw()
      await check(other ?? assert.fail(), chain.hosts[1]?.http ?? assert.fail())
      // The channel that was given up has gone, too.
      await until(() => chain.hops[0]?.counts.openChannels === 1)
    })

    it('does not begin anew for a dial that waits for a jump when the pool closes', async () => {
      await using chain = await startChain({ hops: 2 })
      const pool = makePool({ transport })
      chain.hops[1]?.freeze()
      const waiting = settling(pool.acquire(chain.targets[0] ?? assert.fail()))
      await until(() => chain.hops[1]?.counts.connections === 1)
      await pool.close({ timeoutMillis: 0 })
      await until(() => waiting.state === 'rejected')
      const error = waiting.error as { code: string; hop?: string }
      assert.deepEqual([error.code, error.hop], ['ERR_POOL_CLOSED', undefined])
      assert.deepEqual([pool.resources(), pool.stats.tunnels.open], [[], 0])
    })
  })

for (const transport of TRANSPORTS)
  describe(`a jump that is replaced (${transport})`, () => {
    it('by retire: who is behind it moves over, successor first, without losing a lease; what nobody uses closes', async () => {
      await using chain = await startChain({ hosts: 2 })
      const [hop] = chain.hops
      const [used, idle] = chain.targets
      assert.ok(hop && used && idle)
      await using pool = makePool({ transport, drainTimeoutMillis: 10_000 })
      const told = listen(pool)
      const lease = await pool.acquire(used)
      const unused = await pool.acquire(idle)
      unused.release()
      const retiring = settling(pool.retire(hop.target))
      // The successor of the used one is there before the old one goes.
      await until(() => pool.stats.opened === 5)
      const next = await pool.acquire(used)
      assert.notEqual(next.generation, lease.generation)
      for (const each of [lease, next]) await check(each, chain.hosts[0]?.http ?? assert.fail())
      assert.equal(lease.signal.aborted, false)
      assert.equal(retiring.state, 'pending')
      assert.equal(hop.counts.logins, 2)
      lease.release()
      await until(() => retiring.state === 'fulfilled')
      assert.deepEqual(named(told, 'tunnel.lost'), [])
      assert.equal(pool.health(idle).state, 'dormant')
      await check(next, chain.hosts[0]?.http ?? assert.fail())
      next.release()
    })

    it('cuts who is still behind it when the time to drain is up, with the hop', async () => {
      await using chain = await startChain()
      const [hop] = chain.hops
      assert.ok(hop)
      await using pool = makePool({ transport, drainTimeoutMillis: 200 })
      const lease = await pool.acquire(chain.targets[0] ?? assert.fail())
      // No successor: it goes to and through another host key.
      hop.rotateHostKey()
      const retiring = settling(pool.retire(hop.target, { force: true }))
      await until(() => lease.signal.aborted)
      assert.deepEqual([lease.signal.reason.code, lease.signal.reason.hop], ['ERR_LOST', chain.names[0]])
      await until(() => retiring.state === 'fulfilled')
    })

    it('by retire, while a target is being dialled through it: that one opens, is lent, and moves over then', async () => {
      await using chain = await startChain()
      const [hop] = chain.hops
      const [host] = chain.hosts
      const [target] = chain.targets
      assert.ok(hop && host && target)
      await using pool = makePool({ transport, drainTimeoutMillis: 10_000, acquireTimeoutMillis: 10_000 })
      host.freeze()
      const first = pool.acquire(target)
      await until(() => host.counts.connections === 1)
      const retiring = settling(pool.retire(hop.target))
      await until(() => hop.counts.logins === 2)
      host.thaw()
      const lease = await first
      await until(() => host.counts.logins === 2)
      await check(lease, host.http)
      lease.release()
      await until(() => retiring.state === 'fulfilled')
      await pool.use(target, (next) => check(next, host.http))
      assert.equal(pool.stats.lost, 0)
    })
  })
