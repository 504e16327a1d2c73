import assert from 'node:assert/strict'
import type { Lease } from '../../src/api/lease.ts'
import { until } from '../support/until.ts'
import { listen, makePool, named, startHost } from './world.ts'

/** Collects until the fact holds: finalizers run some time after a collection. */
const collected = (fact: () => boolean) =>
  until(
    () => {
      global.gc?.()
      return fact()
    },
    { within: 5_000, what: 'the lease is collected' },
  )

/** True once a collection has taken what nobody held. */
function witness(): () => boolean {
  const dropped = new WeakRef({})
  return () => dropped.deref() === undefined
}

describe('a lease: dropped without release', () => {
  it('is released when it is collected, and published', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const told = listen(pool)
    let lease: Lease | undefined = await pool.acquire(site.target)
    const { id } = lease
    assert.equal(pool.stats.leases, 1)
    lease = undefined
    await collected(() => pool.stats.leases === 0)
    assert.deepEqual(
      named(told, 'lease.abandoned').map((fact) => fact.lease),
      [id],
    )
    assert.deepEqual(
      named(told, 'lease.released').map((fact) => fact.lease),
      [id],
    )
  })

  it('is not collected while a socket made with it is open', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    // In a function of its own: the frame of this one would keep what it has touched.
    const open = async (): Promise<() => void> => {
      const socket = await (await pool.acquire(target)).connect(host.http)
      return () => {
        if (host.counts.requests > 0) socket.destroy()
        else socket.write('GET /health HTTP/1.1\r\nhost: host\r\n\r\n')
      }
    }
    let touch: (() => void) | undefined = await open()
    await collected(witness())
    assert.equal(pool.stats.leases, 1)
    touch()
    await until(() => host.counts.requests === 1)
    touch()
    touch = undefined
    await collected(() => pool.stats.leases === 0)
  })

  it('is not collected while a command of it runs', async () => {
    await using site = await startHost()
    const { target } = site
    await using pool = makePool()
    const run = async () => (await pool.acquire(target)).exec('sleep 0.3; echo done')
    const running = run()
    await until(() => site.host.counts.openChannels === 1)
    await collected(witness())
    assert.equal((await running).stdout.toString(), 'done\n')
    await collected(() => pool.stats.leases === 0)
  })

  it('is not published as abandoned when it was released before', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const told = listen(pool)
    const use = async () => (await pool.acquire(site.target)).release()
    await use()
    await collected(witness())
    assert.deepEqual(named(told, 'lease.abandoned'), [])
    assert.equal(named(told, 'lease.released').length, 1)
  })
})
