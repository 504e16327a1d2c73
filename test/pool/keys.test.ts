import assert from 'node:assert/strict'
import type { Target } from '../../src/api/target.ts'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { makePool, rejection, startHost } from './world.ts'

describe('acquire: which targets are one destination', () => {
  it('shares a tunnel between equal targets, whoever made the objects', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const leases = await Promise.all(
      [target, { ...target }, structuredClone(target), { ...target, label: 'another name' }].map((one) => pool.acquire(one)),
    )
    assert.deepEqual(new Set(leases.map(({ generation }) => generation)), new Set([1]))
    assert.equal(new Set(leases.map(({ destination }) => destination)).size, 1)
    assert.equal(host.counts.logins, 1)
    for (const lease of leases) lease.release()
  })

  const different: Array<[what: string, change: (target: Target) => Target]> = [
    ['user', (target) => ({ ...target, user: 'somebody' })],
    ['identity', (target) => ({ ...target, identity: [target.identity as never, { key: makeKeyPair().private }] })],
    ['order of identities', (target) => ({ ...target, identity: [{ password: 'no' }, target.identity as never] })],
    ['host-key policy', (target) => ({ ...target, hostKey: 'insecure-accept-any' })],
    ['host-key alias', (target) => ({ ...target, hostKeyAlias: 'i-0123' })],
    ['keepalive', (target) => ({ ...target, keepAliveIntervalMillis: 1_234 })],
  ]
  for (const [what, change] of different) {
    it(`gives two targets that differ only in ${what} a tunnel each`, async () => {
      await using site = await startHost()
      const { host, target } = site
      await using pool = makePool()
      const leases = await Promise.all([pool.acquire(target), pool.acquire(change(target))])
      assert.notEqual(leases[0].generation, leases[1].generation)
      assert.notEqual(leases[0].destination, leases[1].destination)
      assert.equal(host.counts.logins, 2)
      for (const lease of leases) lease.release()
    })
  }

  it('lets a wrong identity fail beside a right one of the same user and host', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool()
    const lease = await pool.acquire(target)
    await rejection(pool.acquire({ ...target, identity: { key: makeKeyPair().private } }), 'ERR_AUTH')
    assert.equal(host.counts.logins, 1)
    assert.equal(lease.signal.aborted, false)
    lease.release()
  })

  it('is not misled by a target that changes after it was given', async () => {
    await using site = await startHost()
    const { target } = site
    await using pool = makePool()
    const given = { ...target }
    const lease = await pool.acquire(given)
    given.user = 'somebody'
    const again = await pool.acquire(given)
    assert.equal(again.generation, lease.generation)
    for (const one of [lease, again]) one.release()
  })
})
