import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import { listen, makePool, named, startHost } from './world.ts'

const isRecent = (date: Date | undefined) => date !== undefined && Math.abs(Date.now() - date.getTime()) < 5_000

describe('report', () => {
  it('says what is open, who holds it, who waits, and what it is made of', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ traceLeases: true })
    const lease = await pool.acquire(target, { label: 'deploy' })
    const socket = await lease.connect(host.http)
    host.freeze()
    const asked = pool.acquire(target, { exclusive: true, label: 'backup' })
    await until(() => host.counts.connections === 2)
    const { tunnels, leases, waiting, unreaped } = pool.report()
    const { destination } = lease
    assert.deepEqual(
      tunnels.map(({ since, resources, ...tunnel }) => tunnel),
      [
        { destination, label: target.label, generation: 1, state: 'open', why: '' },
        { destination, label: target.label, generation: 2, state: 'opening', why: undefined },
      ],
    )
    assert.deepEqual(
      tunnels[0]?.resources.map(({ kind, label, owner }) => [kind, label, owner]),
      [
        ['socket', `tcp 127.0.0.1:${target.port}`, `${destination} generation 1`],
        ['channel', '127.0.0.1:80', `${destination} generation 1`],
      ],
    )
    assert.deepEqual(
      pool.resources(),
      tunnels.flatMap(({ resources }) => resources),
    )
    assert.deepEqual(
      leases.map(({ since, stack, ...rest }) => rest),
      [{ id: lease.id, destination, generation: 1, label: 'deploy' }],
    )
    assert.match(leases[0]?.stack ?? '', /report\.test\.ts/)
    assert.deepEqual(
      waiting.map(({ since, ...rest }) => rest),
      [{ destination, for: 'backup' }],
    )
    assert.equal(unreaped, 0)
    assert.ok([...tunnels, ...leases, ...waiting, ...pool.resources()].every(({ since }) => isRecent(since)))
    host.thaw()
    ;(await asked).release()
    socket.destroy()
    lease.release()
    await until(() => pool.report().leases.length === 0)
  })

  it('keeps no stacks unless told to', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    assert.equal(pool.report().leases[0]?.stack, undefined)
    lease.release()
  })

  it('traces who acquired, also when the lease comes late, exclusive or by use', async () => {
    await using site = await startHost()
    await using pool = makePool({ traceLeases: true })
    const stackOf = () => pool.report().leases.at(-1)?.stack ?? ''
    const first = await pool.acquire(site.target)
    assert.match(stackOf(), /report\.test\.ts/)
    const own = await pool.acquire(site.target, { exclusive: true })
    assert.match(stackOf(), /report\.test\.ts/)
    for (const lease of [own, first]) lease.release()
    await pool.use(site.target, () => assert.match(stackOf(), /report\.test\.ts/))
  })

  it('says why a tunnel is draining', async () => {
    await using site = await startHost()
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    const told = listen(pool)
    const lease = await pool.acquire(site.target)
    const retired = pool.retire(site.target, { reason: 'maintenance' })
    await until(() => pool.stats.tunnels.draining === 1)
    const [draining] = pool.report().tunnels
    assert.equal(draining?.state, 'draining')
    assert.match(draining?.why ?? '', /retired: maintenance/)
    lease.release()
    await retired
    assert.equal(named(told, 'tunnel.closed')[0]?.reason, draining?.why)
  })
})
