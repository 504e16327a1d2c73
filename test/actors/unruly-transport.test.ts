import assert from 'node:assert/strict'
import type { PoolOptions } from '../../src/api/options.ts'
import type { Target } from '../../src/api/target.ts'
import { TunnelError } from '../../src/errors.ts'
import { Pool } from '../../src/pool.ts'
import type { Connection, Dial } from '../../src/transport/transport.ts'
import { track } from '../support/hooks.ts'
import { until } from '../support/until.ts'
import { FakeConnection, type Manners, unrulyTransport } from './unruly.ts'

const at = (host: string): Target => ({ host, user: 'ops', identity: { password: 'x' }, hostKey: 'insecure-accept-any' })
const BAD = at('bad.test')
const GOOD = at('good.test')

function startPool(bad: Manners, options: PoolOptions = {}): Pool {
  const transport = unrulyTransport({ [BAD.host]: bad })
  return track(new Pool({ openTimeoutMillis: 40, closeGraceMillis: 2_000, drainTimeoutMillis: 100, ...options }, { transport }))
}

/** What an acquire of the bad host comes to: a code, or a lease. */
const outcome = (pool: Pool, options: Parameters<Pool['acquire']>[1] = {}) =>
  pool.acquire(BAD, options).catch((error) => {
    assert.ok(TunnelError.is(error), String(error))
    return error.code
  })

/** The other host is served, and the pool ends with nothing left. */
async function assertWell(pool: Pool): Promise<void> {
  const lease = await pool.acquire(GOOD)
  lease.release()
  await pool.close()
  assert.deepEqual(pool.resources(), [])
  assert.deepEqual(pool.report(), { tunnels: [], leases: [], waiting: [], unreaped: 0 })
}

const untilAborted = (dial: Dial) => new Promise<void>((resolve) => dial.signal.addEventListener('abort', () => resolve()))
const held = (dial: Dial) => new FakeConnection(dial)

const failing: ReadonlyArray<[what: string, code: string, manners: Manners]> = [
  [
    'throws at once',
    'ERR_LOST',
    () => {
      throw new Error('a bug')
    },
  ],
  ['rejects with a string', 'ERR_LOST', () => Promise.reject('no')],
  ['rejects with nothing', 'ERR_LOST', () => Promise.reject()],
  ['rejects with null', 'ERR_LOST', () => Promise.reject(null)],
  ['rejects with a frozen foreign error', 'ERR_LOST', () => Promise.reject(Object.freeze(new RangeError('no')))],
  ['rejects with an error of ours', 'ERR_AUTH', () => Promise.reject(new TunnelError('ERR_AUTH', 'refused'))],
  ['makes something and throws', 'ERR_LOST', (dial) => Promise.reject(held(dial).error ?? new Error('half-way'))],
  [
    'never settles until it is aborted',
    'ERR_OPEN_TIMEOUT',
    async (dial) => {
      held(dial)
      await untilAborted(dial)
      throw dial.signal.reason
    },
  ],
  [
    'resolves after it was aborted',
    'ERR_OPEN_TIMEOUT',
    async (dial) => {
      await untilAborted(dial)
      return held(dial)
    },
  ],
  [
    'resolves a while after it was aborted',
    'ERR_OPEN_TIMEOUT',
    async (dial) => {
      await untilAborted(dial)
      await new Promise((resolve) => setTimeout(resolve, 20))
      return held(dial)
    },
  ],
  ['resolves with nothing', 'ERR_LOST', async () => undefined as unknown as Connection],
  [
    'resolves with a connection that is gone already',
    'ERR_LOST',
    async (dial) => {
      const connection = held(dial)
      connection.lose()
      return connection
    },
  ],
  [
    'resolves with one that throws when it is listened to',
    'ERR_LOST',
    async (dial) =>
      Object.assign(held(dial), {
        onLost() {
          throw new Error('a bug')
        },
      }),
  ],
  [
    'loses the connection as soon as it is listened to',
    'ERR_LOST',
    async (dial) => {
      const connection = held(dial)
      return Object.assign(connection, {
        onLost(listener: (error: TunnelError) => void) {
          connection.error = new TunnelError('ERR_LOST', 'gone')
          listener(connection.error)
          listener(connection.error)
        },
      })
    },
  ],
]

describe('containment: a transport that', () => {
  for (const [what, code, manners] of failing) {
    it(`${what} fails that dial with ${code}`, async () => {
      const pool = startPool(manners)
      assert.equal(await outcome(pool), code)
      await until(() => pool.resources().length === 0)
      await assertWell(pool)
    })
  }

  for (const [when, later] of [
    ['in the tick after it opened', (lose: () => void) => process.nextTick(lose)],
    ['in a later microtask', (lose: () => void) => void Promise.resolve().then(() => Promise.resolve().then(lose))],
    ['in the next turn of the loop', (lose: () => void) => void setImmediate(lose)],
  ] as const) {
    it(`loses the connection ${when} ends the lease, or never grants it`, async () => {
      let dials = 0
      const pool = startPool(async (dial) => {
        const connection = held(dial)
        dials += 1
        later(() => connection.lose())
        return connection
      })
      const got = await outcome(pool, { timeoutMillis: 100 })
      if (typeof got === 'string') assert.ok(['ERR_LOST', 'ERR_ACQUIRE_TIMEOUT'].includes(got), got)
      else {
        await until(() => got.signal.aborted)
        assert.equal(got.signal.reason.code, 'ERR_LOST')
        got.release()
      }
      assert.ok(dials < 20, `${dials} dials`)
      await assertWell(pool)
    })
  }

  it('is given up while it dials leaves nothing, whoever gave up', async () => {
    const pool = startPool(
      async (dial) => {
        held(dial)
        await untilAborted(dial)
        return held(dial)
      },
      { openTimeoutMillis: 60_000 },
    )
    const abort = new AbortController()
    const asked = outcome(pool, { signal: abort.signal })
    const exclusive = outcome(pool, { exclusive: true })
    await until(() => pool.stats.tunnels.opening === 2)
    abort.abort()
    assert.equal(await asked, 'ERR_ABORTED')
    const lease = await pool.acquire(GOOD)
    await pool.destroy(new Error('enough'))
    assert.equal(await exclusive, 'ERR_POOL_CLOSED')
    assert.equal(lease.signal.reason.code, 'ERR_POOL_CLOSED')
    assert.deepEqual(pool.resources(), [])
  })

  it('throws in each of its calls harms the call only', async () => {
    const broken = () => {
      throw new Error('a bug')
    }
    const pool = startPool(async (dial) => Object.assign(held(dial), { openChannel: broken, exec: broken, probe: broken }))
    const lease = await pool.acquire(BAD)
    await assert.rejects(lease.connect({ port: 80 }))
    await assert.rejects(lease.exec('true'))
    lease.release()
    await pool.probe(BAD)
    await assertWell(pool)
  })

  it('never settles, whatever is asked of it, is told as stuck and ends when it does', async () => {
    let settle = () => {}
    const pool = startPool(
      (dial) =>
        new Promise<Connection>((resolve) => {
          settle = () => resolve(held(dial))
        }),
    )
    assert.equal(await outcome(pool, { timeoutMillis: 30 }), 'ERR_ACQUIRE_TIMEOUT')
    await assert.rejects(pool.close({ timeoutMillis: 0 }), { code: 'ERR_STUCK' })
    settle()
    await pool.close()
    assert.deepEqual(pool.resources(), [])
  })
})
