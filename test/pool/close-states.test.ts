import assert from 'node:assert/strict'
import type { PoolOptions } from '../../src/api/options.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import type { Target } from '../../src/api/target.ts'
import { assertNoLeaks, census, type FleetHost, startFleet } from '../../src/testing/index.ts'
import { type SynHole, startSynHole } from '../support/syn-hole.ts'
import { until } from '../support/until.ts'
import { stallAtKex } from './stalls.ts'
import { makePool, RESTS_LONG, rejection, settling } from './world.ts'

const TIMEOUT_MILLIS = 200
const GRACE_MILLIS = 400
const OPTIONS: PoolOptions = { closeGraceMillis: GRACE_MILLIS, ...RESTS_LONG }
/** What a busy machine may add; who is later by the pool's own clock gets ERR_STUCK. */
const SLACK_MILLIS = 2_000

const soon = (fact: () => boolean, what?: string) => until(fact, { within: 10_000, ...(what === undefined ? {} : { what }) })

interface Scene {
  readonly pool: TunnelPool
  readonly host: FleetHost
  /** Another, which is frozen. */
  readonly blocking: FleetHost
  readonly hole: Target
  readonly target: Target
}

/** How each state is reached; what it returns must reject with ERR_POOL_CLOSED, each of it. */
const states: Array<[state: string, enter: (scene: Scene) => Promise<Array<Promise<unknown>>>, options?: PoolOptions]> = [
  ['unused', async () => []],
  [
    'queued',
    async ({ pool, target, blocking }) => {
      const first = pool.acquire(blocking.target)
      await soon(() => blocking.counts.connections > 0)
      return [first, ...Array.from({ length: 3 }, () => pool.acquire(target)), pool.acquire(target, { exclusive: true })]
    },
    { maxConnecting: 1 },
  ],
  [
    'waiting for room',
    async ({ pool, target, blocking }) => {
      const first = pool.acquire(blocking.target)
      await soon(() => blocking.counts.connections > 0)
      return [first, pool.acquire(target)]
    },
    { maxTunnels: 1 },
  ],
  ['connecting', async ({ pool, hole }) => [pool.acquire(hole), pool.acquire(hole, { exclusive: true })]],
  [
    'connecting by a `connect` that never answers',
    async ({ pool, target }) => [pool.acquire({ ...target, connect: () => new Promise(() => {}) })],
  ],
  [
    'banner',
    async ({ pool, host, target }) => {
      const { connections } = host.counts
      host.freeze()
      const asked = [pool.acquire(target), pool.acquire(target, { exclusive: true, whenResting: 'wait' })]
      await soon(() => host.counts.connections === connections + 2)
      return asked
    },
  ],
  [
    'kex',
    async ({ pool, target }) => {
      const asked = pool.acquire({ ...target, connect: stallAtKex })
      await soon(() => pool.resources().length > 0)
      return [asked]
    },
  ],
  [
    'auth',
    async ({ pool, target }) => {
      let isAsked = false
      const load = () => {
        isAsked = true
        return new Promise<never>(() => {})
      }
      const asked = pool.acquire({ ...target, identity: { id: 'never', load } })
      await soon(() => isAsked)
      return [asked]
    },
  ],
  [
    'open, idle',
    async ({ pool, target }) => {
      ;(await pool.acquire(target)).release()
      return []
    },
  ],
  [
    'open, leased',
    async ({ pool, host, target }) => {
      const lease = await pool.acquire(target, { forwards: { web: { to: { port: 80 } } } })
      return [
        lease.exec('sleep 60'),
        lease.connect(host.http).then((socket) => new Promise((_, reject) => socket.once('error', reject))),
      ]
    },
  ],
  [
    'open, leased exclusively',
    async ({ pool, target }) => {
      const lease = await pool.acquire(target, { exclusive: true })
      return [lease.exec('sleep 60')]
    },
  ],
  [
    'verifying',
    async ({ pool, host, target }) => {
      ;(await pool.acquire(target)).release()
      host.freeze()
      return [pool.acquire(target), pool.acquire(target)]
    },
    { verifyAfterMillis: 0 },
  ],
  [
    'draining',
    async ({ pool, target }) => {
      const [faulty, other] = await Promise.all([pool.acquire(target), pool.acquire(target)])
      faulty.release(new Error('fault'))
      await soon(() => pool.stats.tunnels.draining === 1)
      return [other.exec('sleep 60')]
    },
  ],
  [
    'succession',
    async ({ pool, host, target }) => {
      const lease = await pool.acquire(target)
      host.freeze()
      // It resolves if the old generation is final first.
      pool.retire(target).catch(() => {})
      await soon(() => pool.stats.tunnels.opening === 1)
      host.thaw()
      return [lease.exec('sleep 60')]
    },
  ],
  [
    'resting',
    async ({ pool, host, target }) => {
      host.rejectAuth()
      await rejection(pool.acquire(target), 'ERR_AUTH')
      return [
        pool.acquire(target, { whenResting: 'wait', timeoutMillis: Infinity }),
        pool.acquire(target, { whenResting: 'dial' }),
        pool.acquire(target, { whenResting: 'wait', exclusive: true, timeoutMillis: Infinity }),
      ]
    },
  ],
  [
    'barred',
    async ({ pool, host, target }) => {
      host.rotateHostKey()
      await rejection(pool.acquire(target), 'ERR_HOST_KEY')
      return []
    },
  ],
  [
    'leaving',
    async ({ pool, target }) => {
      const lease = await pool.acquire(target)
      void pool.close({ timeoutMillis: 5_000 })
      return [lease.exec('sleep 60')]
    },
  ],
]

const servers: Array<[server: string, begin: (host: FleetHost) => void]> = [
  ['well', () => {}],
  ['slow', (host) => host.delay(100)],
  ['frozen', (host) => host.freeze()],
  ['refusing', (host) => host.refuse()],
  ['swallowing FIN', (host) => host.swallowFin()],
  ['mute', (host) => host.muteChannels()],
  ['severed', (host) => host.sever()],
]

const ways: Array<[how: string, end: (pool: TunnelPool) => Promise<void>, millis: number]> = [
  ['close', (pool) => pool.close({ timeoutMillis: TIMEOUT_MILLIS }), TIMEOUT_MILLIS + GRACE_MILLIS],
  ['close at once', (pool) => pool.close({ timeoutMillis: 0 }), GRACE_MILLIS],
  ['destroy', (pool) => pool.destroy(), GRACE_MILLIS],
]

describe('close and destroy end a pool within their bounds, with nothing left and no dial after, whatever the server does', () => {
  let syn: SynHole
  before(async () => {
    syn = await startSynHole()
    // It listens for the exit once it is loaded, which is with the first directory.
    await import('tmp')
  })
  after(() => syn.close())

  for (const [state, enter, options] of states) {
    it(`while ${state}`, async () => {
      const cases = ways.flatMap((way) => servers.map((server) => [...way, ...server] as const))
      await using fleet = await startFleet({ hosts: cases.length + 1 })
      const [blocking, ...hosts] = fleet.hosts
      assert.ok(blocking)
      blocking.freeze()
      const baseline = await census()
      const endings = cases.map(async ([how, end, millis, server, begin], index) => {
        const host = hosts[index] as FleetHost
        const what = `${how}, ${server}`
        const pool = makePool({ ...OPTIONS, ...options })
        const hole: Target = { ...host.target, host: syn.addresses[0] as string, port: syn.port }
        const pending = (await enter({ pool, host, blocking, hole, target: host.target })).map(settling)
        begin(host)
        const began = performance.now()
        await end(pool)
        const took = performance.now() - began
        const { connections } = host.counts
        assert.deepEqual(pool.resources(), [], what)
        assert.ok(took < millis + SLACK_MILLIS, `${what}: ${took} ms`)
        for (const [which, one] of pending.entries()) {
          await soon(() => one.state === 'rejected', `${what}: promise ${which} is rejected`)
          const { code } = one.error as { code: string }
          const isLost = code === 'ERR_LOST' && (server === 'severed' || state === 'leaving')
          assert.ok(code === 'ERR_POOL_CLOSED' || isLost, `${what}: promise ${which} got ${code}`)
        }
        await rejection(pool.acquire(host.target), 'ERR_POOL_CLOSED')
        assert.deepEqual(pool.report(), { tunnels: [], leases: [], waiting: [], unreaped: 0 })
        return () => assert.equal(host.counts.connections, connections, `${what}: dialled after the end`)
      })
      const outcomes = await Promise.allSettled(endings)
      for (const host of fleet.hosts) {
        host.thaw()
        host.delay(0)
        host.swallowFin(false)
        host.refuse(false)
      }
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') throw outcome.reason
        outcome.value()
      }
      await assertNoLeaks(makePool(), { baseline })
    })
  }
})
