import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { createServer } from 'node:net'
import { type Duplex, PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { until } from '../support/until.ts'
import { listen, makePool, named, rejection, settling, startHost } from './world.ts'

describe('close', () => {
  it('B76 may be called 100 times at once, before use, in it and after', async () => {
    await using site = await startHost()
    const { host, target } = site
    for (const stage of ['before', 'opening', 'open', 'leased'] as const) {
      const pool = makePool()
      const asked =
        stage === 'before'
          ? undefined
          : settling(pool.acquire(target).then((lease) => (stage === 'open' ? lease.release() : undefined)))
      if (stage === 'open' || stage === 'leased') await until(() => asked?.state === 'fulfilled')
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? pool.destroy() : pool.close({ timeoutMillis: 50 }))),
      )
      await Promise.all(Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? pool.destroy() : pool.close())))
      await pool[Symbol.asyncDispose]()
      assert.deepEqual(pool.resources(), [])
    }
    await until(() => host.counts.openChannels === 0)
  })

  it('B76 may be called from a listener of any fact', async () => {
    for (const name of [
      'tunnel.opened',
      'lease.acquired',
      'lease.released',
      'tunnel.lost',
      'tunnel.closed',
      'tunnel.failed',
      'destination.resting',
    ] as const) {
      await using site = await startHost()
      const { host, target } = site
      const pool = makePool()
      let closing: Promise<void> | undefined
      pool.on(name, () => {
        closing ??= pool.close()
      })
      const work = async (): Promise<void> => {
        const lease = await pool.acquire(target)
        lease.release()
        if (name === 'tunnel.closed') await pool.retire(target)
        host.refuse()
        host.sever()
        await until(() => pool.stats.tunnels.open === 0)
        await pool.acquire(target)
      }
      const working = settling(work())
      await until(() => closing !== undefined, { what: name })
      await closing
      await until(() => working.state === 'rejected')
      assert.deepEqual(pool.resources(), [])
    }
  })

  it('waits for leases for as long as it was told, and no longer than they take', async () => {
    await using site = await startHost()
    const pool = makePool()
    const lease = await pool.acquire(site.target)
    const closing = settling(pool.close({ timeoutMillis: 10_000 }))
    const run = await lease.exec('sleep 0.1; echo done')
    assert.equal(run.stdout.toString(), 'done\n')
    assert.equal(closing.state, 'pending')
    assert.equal(lease.signal.aborted, false)
    lease.release()
    await until(() => closing.state === 'fulfilled', { within: 1_000 })
  })

  it("cuts them then, with the pool's end as their reason", async () => {
    await using site = await startHost()
    const pool = makePool()
    const told = listen(pool)
    const lease = await pool.acquire(site.target)
    const began = performance.now()
    await pool.close({ timeoutMillis: 100 })
    const took = performance.now() - began
    assert.ok(took > 90 && took < 400, `${took} ms`)
    assert.equal(lease.signal.reason.code, 'ERR_POOL_CLOSED')
    await until(() => named(told, 'tunnel.closed').length === 1)
    assert.equal(pool.stats.lost, 0)
  })

  it('with 0 begins with releasing', async () => {
    await using site = await startHost()
    const pool = makePool({ closeGraceMillis: 5_000 })
    const lease = await pool.acquire(site.target)
    const run = rejection(lease.exec('sleep 60'))
    await until(() => site.host.counts.openChannels === 1)
    const began = performance.now()
    await pool.close({ timeoutMillis: 0 })
    assert.ok(performance.now() - began < 500)
    assert.ok(lease.signal.aborted)
    await run
  })

  it('is only shortened by a second one', async () => {
    await using site = await startHost()
    const pool = makePool()
    const lease = await pool.acquire(site.target)
    const first = settling(pool.close({ timeoutMillis: 60_000 }))
    await turn()
    const began = performance.now()
    const second = pool.close({ timeoutMillis: 100 })
    const third = settling(pool.close({ timeoutMillis: 60_000 }))
    await second
    assert.ok(performance.now() - began < 500)
    assert.ok(lease.signal.aborted)
    await until(() => first.state === 'fulfilled' && third.state === 'fulfilled')
  })

  it('is overtaken by destroy, whose reason leases and waiters see', async () => {
    await using site = await startHost()
    const { host, target } = site
    const pool = makePool()
    const lease = await pool.acquire(target)
    host.freeze()
    const own = pool.acquire(target, { exclusive: true })
    await until(() => host.counts.connections === 2)
    const reason = new Error('now')
    const closing = settling(pool.close({ timeoutMillis: 60_000 }))
    await rejection(own, 'ERR_POOL_CLOSED')
    await pool.destroy(reason)
    assert.equal(lease.signal.reason.cause, reason)
    await until(() => closing.state === 'fulfilled')
    assert.equal((await rejection(pool.acquire(target), 'ERR_POOL_CLOSED')).cause, reason)
  })

  it('B27 rejects who waits at once, and the connection that comes late serves nobody', async () => {
    await using site = await startHost()
    const { host, target } = site
    const pool = makePool()
    host.delay(100)
    const asks = Array.from({ length: 10 }, () => rejection(pool.acquire(target), 'ERR_POOL_CLOSED'))
    await until(() => host.counts.connections === 1)
    const began = performance.now()
    const closing = pool.close()
    await Promise.all(asks)
    assert.ok(performance.now() - began < 100)
    await closing
    host.delay(0)
    assert.equal(pool.stats.opened, 0)
    assert.deepEqual(pool.report().tunnels, [])
  })

  it('B27 destroys the stream that a `connect` brings after the end', async () => {
    await using site = await startHost()
    const pool = makePool()
    let bring: (stream: Duplex) => void = () => {}
    const brought = new Promise<Duplex>((resolve) => {
      bring = resolve
    })
    let asking: AbortSignal | undefined
    const connect = ({ signal }: { signal: AbortSignal }) => {
      asking = signal
      return brought
    }
    const asked = rejection(pool.acquire({ ...site.target, connect }), 'ERR_POOL_CLOSED')
    await until(() => asking !== undefined)
    await pool.close({ timeoutMillis: 0 })
    await asked
    assert.ok(asking?.aborted)
    const stream = new PassThrough()
    bring(stream)
    await until(() => stream.destroyed)
    assert.deepEqual(pool.resources(), [])
  })

  it('B44 is not held up by 10 idle keep-alive clients of a forward, and its port is free after', async () => {
    await using site = await startHost()
    const pool = makePool()
    const { port } = await freePort()
    const lease = await pool.acquire(site.target, { forwards: { web: { to: { port: 80 }, listen: { port } } } })
    const agent = new Agent({ keepAlive: true, maxSockets: 10 })
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const [response] = await once(get({ agent, port, path: '/health' }), 'response')
        response.resume()
        await once(response, 'end')
      }),
    )
    await until(() => Object.values(agent.freeSockets).flat().length === 10)
    const began = performance.now()
    lease.release()
    await pool.close()
    assert.ok(performance.now() - began < 600)
    await until(() => Object.values(agent.freeSockets).flat().length === 0)
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    agent.destroy()
  })

  it('refuses everything after', async () => {
    await using site = await startHost()
    const { target } = site
    const pool = makePool()
    await pool.close()
    for (const call of [
      () => pool.acquire(target),
      () => pool.use(target, () => {}),
      () => pool.warm([target]),
      () => pool.acquire(target, { exclusive: true }),
    ])
      await rejection(call(), 'ERR_POOL_CLOSED')
    const [error] = await once(pool.socket(target, { port: 80 }), 'error')
    assert.equal(error.code, 'ERR_POOL_CLOSED')
    await pool.retire(target)
    pool.reset(target)
    await pool.settled()
    assert.equal(pool.health(target).state, 'unknown')
  })
})

async function freePort(): Promise<{ port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return { port }
}
