import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { TunnelError } from '../../src/errors.ts'
import { until } from '../support/until.ts'
import { check, makeFastPool, makePool, random, rejection, settling, startHost } from './world.ts'

describe('reconnecting', () => {
  it('B17 200 times, severed at random times with requests in flight: all settle, and no listener stays', async () => {
    await using site = await startHost()
    const { host, target } = site
    // Thirty times as fast as the machine: more than ten losses within a second would be taken for a storm, and the redials spread.
    await using pool = makeFastPool(30, {
      acquireTimeoutMillis: 100_000,
      openTimeoutMillis: 100_000,
      channelTimeoutMillis: 100_000,
    })
    const at = random(17)
    const { signal } = new AbortController()
    const listeners = () =>
      process
        .eventNames()
        .map((name) => process.listenerCount(name))
        .reduce((all, one) => all + one, 0)
    let served = 0
    let before = 0
    for (let round = 0; round < 200; round += 1) {
      const lease = await pool.acquire(target, { signal, whenResting: 'wait' })
      const requests = Array.from({ length: 4 }, () => settling(check(lease, host.http)))
      const cut = new Promise<void>((resolve) => setTimeout(() => resolve(host.sever()), at() * 6))
      await until(() => lease.signal.aborted)
      await cut
      await until(() => requests.every(({ state }) => state !== 'pending'))
      for (const { state, error } of requests) {
        if (state === 'fulfilled') served += 1
        else assert.ok(TunnelError.is(error) && error.code === 'ERR_LOST', String(error))
      }
      assert.equal(getEventListeners(signal, 'abort').length, 0)
      if (round === 2) before = listeners()
      if (round > 2) assert.equal(listeners(), before)
    }
    assert.ok(served > 50 && served < 750, `${served} of 800 were served`)
    assert.equal(host.counts.logins, 200)
    assert.equal(pool.stats.failed, 0)
    await until(() => pool.resources().length === 0)
  })

  it('B79 has every forward of a lease answer at its address again, or names the one that cannot', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const areClosed = () => pool.resources().every(({ kind, owner }) => kind !== 'listener' || owner === 'pool')
    const probe = await pool.acquire(target, {
      forwards: { a: { to: { port: 80 }, listen: 'tcp' }, b: { to: { port: 81 }, listen: 'tcp' } },
    })
    const ports = [probe.forwards.a.address.port, probe.forwards.b.address.port] as const
    probe.release()
    await until(areClosed)
    const forwards = {
      one: { to: { port: 80 }, listen: { port: ports[0] } },
      two: { to: { port: 80 }, listen: { port: ports[1] } },
      three: { to: { port: 80 } },
      four: { to: { port: 80 }, listen: 'tcp' },
    } as const
    const isWell = async (options: object): Promise<void> => {
      const request = get({ ...options, path: '/health', agent: false })
      const [response] = await once(request, 'response')
      response.resume()
      assert.equal(response.statusCode, 200)
      await once(response, 'end')
    }
    for (let round = 0; round < 20; round += 1) {
      const acquire = () => pool.acquire(target, { forwards })
      if (round === 10) {
        await using _thief = await occupy(ports[1])
        const error = await rejection(acquire(), 'ERR_ADDRESS_IN_USE')
        assert.match(error.message, /`two`/)
        assert.equal(pool.stats.leases, 0)
        await until(areClosed)
      }
      const lease = await acquire()
      await Promise.all([
        isWell({ port: ports[0], host: '127.0.0.1' }),
        isWell({ port: ports[1], host: '127.0.0.1' }),
        isWell(lease.forwards.three.address),
        isWell({ port: lease.forwards.four.address.port, host: '127.0.0.1' }),
      ])
      host.sever()
      await until(() => lease.signal.aborted)
      await until(() => pool.report().tunnels.length === 0)
    }
    assert.equal(pool.stats.lost, 20)
  })
})

/** Somebody else, who listens on a port. */
async function occupy(port: number): Promise<AsyncDisposable> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
