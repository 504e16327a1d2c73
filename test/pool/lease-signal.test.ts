import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TunnelError } from '../../src/errors.ts'
import { until } from '../support/until.ts'
import { check, makePool, rejection, settling, startHost } from './world.ts'

const reasonOf = (signal: AbortSignal): TunnelError => signal.reason as TunnelError

describe('a lease: its signal', () => {
  it('aborts with ERR_LOST when the tunnel under it is lost, and all that is made with it ends so', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const lease = await pool.acquire(target)
    const { signal } = lease
    const socket = await lease.connect(host.http)
    const failed = once(socket, 'error')
    const run = settling(lease.exec('sleep 60'))
    await until(() => host.counts.openChannels === 2)
    host.sever()
    await until(() => signal.aborted)
    assert.equal(reasonOf(signal).code, 'ERR_LOST')
    assert.equal(((await failed)[0] as TunnelError).code, 'ERR_LOST')
    await until(() => run.state === 'rejected')
    assert.equal((run.error as TunnelError).code, 'ERR_LOST')
    assert.equal(await rejection(lease.connect(host.http), 'ERR_LOST'), signal.reason)
    // Its end was told: giving it back again changes nothing.
    assert.equal(pool.stats.leases, 0)
    lease.release()
    assert.equal(pool.stats.leases, 0)
  })

  it('is aborted already when it is first looked at after the loss', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    assert.equal(reasonOf(lease.signal).code, 'ERR_LOST')
  })

  it('aborts with the reason that the pool was destroyed for', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    const { signal } = lease
    const reason = new Error('the building is on fire')
    await pool.destroy(reason)
    assert.equal(reasonOf(signal).code, 'ERR_POOL_CLOSED')
    assert.equal(reasonOf(signal).cause, reason)
  })

  it('does not swap the tunnel silently: the lease stays lost when the destination is back', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const lease = await pool.acquire(target)
    host.sever()
    await until(() => pool.stats.lost === 1)
    const next = await pool.acquire(target)
    await check(next, host.http)
    await rejection(lease.connect(host.http), 'ERR_LOST')
    assert.equal(lease.generation, 1)
    next.release()
  })

  it('stays still when the lease is released and the tunnel is lost later', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    const { signal } = lease
    lease.release()
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    assert.equal(signal.aborted, false)
  })

  it('may throw in a listener without harm to the others', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const leases = await Promise.all(Array.from({ length: 3 }, () => pool.acquire(site.target)))
    const heard: number[] = []
    for (const [index, lease] of leases.entries()) lease.signal.addEventListener('abort', () => heard.push(index))
    site.host.sever()
    await until(() => heard.length === 3)
    assert.deepEqual(heard, [0, 1, 2])
  })
})
