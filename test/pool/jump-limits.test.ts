import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { type Chain, startChain, TRANSPORTS } from './chain.ts'
import { check, listen, makePool, named } from './world.ts'

/** Chains beside each other, all gone together. */
async function startChains(count: number, shape: { hosts?: number; hops?: number }) {
  const chains = await Promise.all(Array.from({ length: count }, () => startChain(shape)))
  return {
    chains,
    [Symbol.asyncDispose]: async () => void (await Promise.all(chains.map((chain) => chain[Symbol.asyncDispose]()))),
  }
}

const pairs = (chains: readonly Chain[]) =>
  chains.flatMap(({ targets, hosts }) => targets.map((target, index) => ({ target, http: hosts[index]?.http ?? assert.fail() })))

for (const transport of TRANSPORTS)
  describe(`jumps and the limits (${transport})`, () => {
    for (const [shareJumps, count, hops, maxTunnels] of [
      [true, 2, 1, 2],
      [true, 3, 2, 3],
      [true, 3, 2, 4],
      [false, 3, 2, 3],
    ] as const)
      it(`${count} chains of ${hops} hops${shareJumps ? '' : ' of their own'} share ${maxTunnels} places in turn`, async () => {
        await using world = await startChains(count, { hosts: 3, hops })
        await using pool = makePool({
          transport,
          maxTunnels,
          shareJumps,
          maxConnecting: 1,
          maxOpening: 1,
          acquireTimeoutMillis: 10_000,
        })
        const told = listen(pool)
        await Promise.all(pairs(world.chains).map(({ target, http }) => pool.use(target, (lease) => check(lease, http))))
        assert.ok(pool.stats.tunnels.open <= maxTunnels)
        assert.deepEqual([named(told, 'tunnel.failed'), named(told, 'tunnel.lost')], [[], []])
      })

    it('a jump that only waiting dials hold makes way; one that a user or an open target holds does not', async () => {
      await using world = await startChains(2, {})
      const [one, other] = world.chains
      assert.ok(one && other)
      await using pool = makePool({ transport, maxTunnels: 2, acquireTimeoutMillis: 10_000 })
      const hop = one.hops[0] ?? assert.fail()
      const held = await pool.acquire(hop.target)
      const [behind] = one.targets
      const [beside] = other.targets
      assert.ok(behind && beside)
      const user = await pool.acquire(behind)
      const waiting = pool.acquire(beside)
      await until(() => pool.stats.waiting === 1)
      held.release()
      await check(user, one.hosts[0]?.http ?? assert.fail())
      assert.equal(hop.counts.logins, 1)
      user.release()
      const lease = await waiting
      await check(lease, other.hosts[0]?.http ?? assert.fail())
      assert.equal(pool.stats.lost, 0)
    })

    it('a jump is dialled before those that were in line for a place before it', async () => {
      await using world = await startChains(2, { hosts: 4 })
      const [slow, chain] = world.chains
      assert.ok(slow && chain)
      await using pool = makePool({ transport, maxConnecting: 1, maxOpening: 1 })
      const told = listen(pool)
      slow.hops[0]?.freeze()
      const first = pool.acquire(slow.hops[0]?.target ?? assert.fail())
      await until(() => pool.stats.tunnels.opening === 1)
      const direct = chain.hosts.slice(0, 3).map(({ target: { jumps, ...target } }) => pool.acquire(target))
      const behind = pool.acquire(chain.targets[3] ?? assert.fail())
      await until(() => pool.stats.waiting === 5)
      slow.hops[0]?.thaw()
      for (const lease of await Promise.all([first, ...direct, behind])) lease.release()
      const order = named(told, 'tunnel.opened').map(({ destination }) => destination.split('#')[0])
      assert.equal(order[1], chain.names[0])
    })
  })
