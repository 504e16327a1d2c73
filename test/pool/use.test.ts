import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { check, listen, makePool, named, rejection, settling, startHost } from './world.ts'

describe('use', () => {
  it('gives the result, and the lease back', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const result = await pool.use(site.target, async (lease) => {
      await check(lease, site.host.http)
      assert.equal(pool.stats.leases, 1)
      return lease.generation
    })
    assert.equal(result, 1)
    assert.equal(pool.stats.leases, 0)
  })

  for (const [what, fail] of [
    [
      'throws',
      () => {
        throw new Error('of the caller')
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the caller'))],
  ] as const) {
    it(`gives the lease back when the function ${what}, and passes that on without a second try`, async () => {
      await using site = await startHost()
      await using pool = makePool()
      const told = listen(pool)
      let calls = 0
      const failing = pool.use(
        site.target,
        () => {
          calls += 1
          return fail()
        },
        { retries: 3 },
      )
      await assert.rejects(failing, { message: 'of the caller' })
      assert.equal(calls, 1)
      assert.equal(pool.stats.leases, 0)
      // Nothing says that the tunnel is bad: it is lent again.
      assert.equal(await pool.use(site.target, (lease) => lease.generation), 1)
      assert.equal(named(told, 'lease.released')[0]?.fault, undefined)
    })
  }

  it('tries again when the tunnel was lost under it, as often as it was told', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const generations: number[] = []
    const result = await pool.use(
      target,
      async (lease) => {
        generations.push(lease.generation)
        if (generations.length <= 2) {
          const socket = await lease.connect(host.http)
          host.sever()
          for await (const _ of socket) assert.fail('no data was asked for')
        }
        await check(lease, host.http)
        return 'done'
      },
      { retries: 2 },
    )
    assert.equal(result, 'done')
    assert.deepEqual(generations, [1, 2, 3])
    assert.equal(pool.stats.lost, 2)
  })

  it('gives up with the loss when the tries are used up', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    let calls = 0
    const error = await rejection(
      pool.use(
        target,
        async (lease) => {
          calls += 1
          host.sever()
          await lease.exec('sleep 60')
        },
        { retries: 1 },
      ),
      'ERR_LOST',
    )
    assert.equal(calls, 2)
    assert.equal(error.retryable, true)
    assert.equal(pool.stats.leases, 0)
  })

  it('does not try again by itself', async () => {
    await using site = await startHost()
    await using pool = makePool()
    let calls = 0
    const lost = pool.use(site.target, async (lease) => {
      calls += 1
      site.host.sever()
      await lease.exec('sleep 60')
    })
    await rejection(lost, 'ERR_LOST')
    assert.equal(calls, 1)
  })

  it("does not try again what the pool's end has cut", async () => {
    await using site = await startHost()
    await using pool = makePool()
    let calls = 0
    const used = settling(
      pool.use(
        site.target,
        async (lease) => {
          calls += 1
          await lease.exec('sleep 60')
        },
        { retries: 5 },
      ),
    )
    await until(() => site.host.counts.openChannels === 1)
    await pool.destroy()
    await until(() => used.state === 'rejected')
    assert.equal((used.error as { code: string }).code, 'ERR_POOL_CLOSED')
    assert.equal(calls, 1)
  })

  it('waits for a destination that rests, when it may try again', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ backoffMinMillis: 30, backoffMaxMillis: 30 })
    host.refuse()
    await rejection(pool.acquire(target), 'ERR_REFUSED')
    const used = pool.use(target, (lease) => lease.generation, { retries: 1 })
    host.refuse(false)
    assert.ok((await used) >= 2)
  })
})
