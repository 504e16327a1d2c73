import assert from 'node:assert/strict'
import type { Identity, StaticIdentity } from '../../../src/index.ts'
import { type Hostile, startHostile } from '../../support/hostile.ts'
import { makeUserKey } from '../../support/identity-keys.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { until } from '../../support/until.ts'

describe('ssh2: an identity that is loaded', () => {
  let host: Hostile
  const seen: string[] = []

  before(async () => {
    host = await startHostile({
      authenticate: (context) => {
        seen.push(context.method === 'password' ? `password ${context.password}` : context.method)
        if (context.method === 'password' && context.password.startsWith('good')) context.accept()
        else context.reject(['password', 'publickey'])
      },
    })
  })

  beforeEach(() => {
    seen.length = 0
  })

  after(() => host.close())

  const by = (load: (signal: AbortSignal) => Promise<StaticIdentity>): { identity: Identity } => ({
    identity: { id: 'vault', load },
  })

  it('is asked for at each dial', async () => {
    let count = 0
    const target = {
      ...host.target,
      ...by(async () => {
        count += 1
        return { password: `good ${count}` }
      }),
    }
    await using pool = startPool()
    for (let dial = 1; dial <= 2; dial += 1) {
      const lease = await pool.acquire(target)
      lease.release()
      await pool.retire(target, { force: true })
    }
    assert.ok(seen.length >= 2)
    assert.deepEqual(seen, [...new Set(seen)])
  })

  for (const [what, load] of [
    [
      'throws',
      () => {
        throw new Error('sealed')
      },
    ],
    ['rejects', () => Promise.reject(new Error('sealed'))],
  ] as const) {
    it(`by a function that ${what} is ERR_AGENT with that as its cause`, async () => {
      await using pool = startPool()
      const error = await refusal(pool.acquire({ ...host.target, ...by(load) }), 'ERR_AGENT', 'auth')
      assert.equal((error.cause as Error).message, 'sealed')
      assert.match(error.message, /vault/)
      assert.equal(error.retryable, true)
    })
  }

  it('and is no identity is ERR_INVALID_OPTION', async () => {
    await using pool = startPool()
    const nonsense = by(async () => ({ pasword: 'x' }) as unknown as StaticIdentity)
    await refusal(pool.acquire({ ...host.target, ...nonsense }), 'ERR_INVALID_OPTION')
  })

  it('and has a certificate is ERR_UNSUPPORTED', async () => {
    await using pool = startPool()
    const key = makeUserKey('ed25519').private
    await refusal(pool.acquire({ ...host.target, ...by(async () => ({ key, certificate: 'x' })) }), 'ERR_UNSUPPORTED')
  })

  it('is told by its signal that its dial has ended, and what it brings then goes nowhere', async () => {
    let told: AbortSignal | undefined
    let bring: (identity: StaticIdentity) => void = () => {}
    const target = {
      ...host.target,
      ...by((signal) => {
        told = signal
        return new Promise((resolve) => {
          bring = resolve
        })
      }),
    }
    const pool = startPool()
    const dial = refusal(pool.acquire(target), 'ERR_POOL_CLOSED')
    await until(() => told)
    await Promise.all([dial, pool.destroy()])
    assert.equal(told?.aborted, true)
    bring({ password: 'good and late' })
    await until(() => host.open === 0)
    assert.deepEqual(seen, [])
  })

  it('is told by its signal, too, when it is the server that has left', async () => {
    let told: AbortSignal | undefined
    let bring: (identity: StaticIdentity) => void = () => {}
    const target = {
      ...host.target,
      ...by((signal) => {
        told = signal
        return new Promise((resolve) => {
          bring = resolve
        })
      }),
    }
    await using pool = startPool()
    const dial = refusal(pool.acquire(target), 'ERR_RESET', 'auth')
    await until(() => told)
    host.connections.at(-1)?.end()
    await dial
    assert.equal(told?.aborted, true)
    bring({ password: 'good and late' })
    await until(() => host.open === 0)
    assert.deepEqual(seen, [])
  })
})
