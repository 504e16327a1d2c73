import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger, PoolOptions } from '../../src/api/options.ts'
import type { PoolFacts } from '../../src/api/report.ts'
import type { Target } from '../../src/api/target.ts'
import { Pool } from '../../src/pool.ts'
import { type Fleet, type FleetHost, startFleet } from '../../src/testing/index.ts'
import { track } from '../support/hooks.ts'
import { until } from '../support/until.ts'

const FACTS: Record<keyof PoolFacts, true> = {
  'tunnel.opened': true,
  'tunnel.lost': true,
  'tunnel.failed': true,
  'tunnel.closed': true,
  'tunnel.stuck': true,
  'destination.resting': true,
  'destination.barred': true,
  'lease.acquired': true,
  'lease.released': true,
  'lease.abandoned': true,
  'forward.refused': true,
  'pool.swept': true,
}

const bug = (): never => {
  throw new Error('a bug of the user')
}
const lateBug = async (): Promise<never> => {
  await Promise.resolve()
  return bug()
}

/** Lease, loss, refusal, bar and end, of which every fact is told. */
async function live(pool: Pool, host: FleetHost): Promise<void> {
  const lease = await pool.acquire(host.target)
  host.sever()
  await until(() => lease.signal.aborted)
  lease.release()
  host.refuse()
  await assert.rejects(pool.acquire(host.target), { code: 'ERR_REFUSED' })
  host.refuse(false)
  pool.reset(host.target)
  host.rotateHostKey()
  await assert.rejects(pool.acquire(host.target), { code: 'ERR_HOST_KEY' })
  assert.equal(pool.health(host.target).state, 'barred')
  await pool.close()
  assert.deepEqual(pool.resources(), [])
}

/** What Node was told of it: once, and no more. */
function warnings(): { count: () => number; stop: () => void } {
  const emitted: unknown[] = []
  const { emitWarning } = process
  process.emitWarning = ((warning: unknown) => emitted.push(warning)) as typeof process.emitWarning
  return {
    count: () => emitted.length,
    stop: () => {
      process.emitWarning = emitWarning
    },
  }
}

describe('containment: what users give, when it throws', () => {
  let fleet: Fleet
  let host: FleetHost
  beforeEach(async () => {
    fleet = await startFleet()
    host = fleet.hosts[0] as FleetHost
  })
  afterEach(() => fleet.close())
  const startPool = (options: PoolOptions = {}) => track(new Pool({ closeGraceMillis: 200, ...options }))

  for (const [how, log] of [
    ['at once', bug],
    ['later', lateBug],
  ] as const) {
    it(`a logger ${how}: told once, and nothing else changes`, async () => {
      const told = warnings()
      try {
        const logger: Logger = { log }
        await live(startPool({ logger }), host)
        await until(() => told.count() > 0)
        assert.equal(told.count(), 1)
      } finally {
        told.stop()
      }
    })

    it(`listeners of every fact ${how}: the others hear it all the same`, async () => {
      const told = warnings()
      try {
        const pool = startPool()
        const heard = new Set<string>()
        for (const fact of Object.keys(FACTS) as Array<keyof PoolFacts>) {
          pool.on(fact, log)
          pool.on(fact, () => void heard.add(fact))
        }
        await live(pool, host)
        for (const fact of ['tunnel.opened', 'tunnel.lost', 'tunnel.failed', 'destination.barred', 'lease.released'])
          assert.ok(heard.has(fact), fact)
        assert.equal(told.count(), 1)
      } finally {
        told.stop()
      }
    })

    for (const [form, observer] of [
      ['a function', log],
      ['an object', { next: log }],
    ] as const) {
      it(`an inspector, ${form}, ${how}`, async () => {
        const pool = startPool()
        const detach = pool.inspect(observer as never)
        let seen = 0
        pool.inspect(() => {
          seen += 1
        })
        await live(pool, host)
        assert.ok(seen > 10)
        detach()
      })
    }
  }

  it('an inspector whose fields cannot even be read', () => {
    const pool = startPool()
    const detach = pool.inspect(
      Object.defineProperty({}, 'next', {
        get: bug,
      }) as never,
    )
    detach()
    return pool.close()
  })

  const connects: ReadonlyArray<[what: string, connect: NonNullable<Target['connect']>, code: string]> = [
    ['throws', bug, 'ERR_UNREACHABLE'],
    ['rejects with an error', lateBug, 'ERR_UNREACHABLE'],
    ['rejects with nothing', () => Promise.reject(), 'ERR_UNREACHABLE'],
    ['gives nothing', async () => undefined as unknown as Duplex, 'ERR_UNREACHABLE'],
    ['gives no stream', async () => ({}) as Duplex, 'ERR_UNREACHABLE'],
    ['never gives anything', () => new Promise(() => {}), 'ERR_OPEN_TIMEOUT'],
    [
      'gives a stream that is destroyed',
      async ({ host: to, port }) => {
        const socket = connectTcp(port, to)
        socket.on('error', () => {})
        socket.destroy()
        return socket
      },
      'ERR_RESET',
    ],
    [
      'gives a stream too late',
      ({ host: to, port, signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => setTimeout(() => resolve(connectTcp(port, to)), 10))
        }),
      'ERR_OPEN_TIMEOUT',
    ],
  ]
  for (const [what, connect, code] of connects) {
    it(`\`connect\` ${what}: that dial fails with ${code}, and nothing is left`, async () => {
      const pool = startPool({ openTimeoutMillis: 400 })
      await assert.rejects(pool.acquire({ ...host.target, connect }), { code })
      ;(await pool.acquire(host.target)).release()
      await pool.close()
      assert.deepEqual(pool.resources(), [])
    })
  }

  const loads: ReadonlyArray<[what: string, load: (signal: AbortSignal) => Promise<never>, code: string]> = [
    ['throws', bug, 'ERR_AGENT'],
    ['rejects with an error', lateBug, 'ERR_AGENT'],
    ['rejects with nothing', () => Promise.reject(), 'ERR_AGENT'],
    ['gives nothing', async () => undefined as never, 'ERR_INVALID_OPTION'],
    ['gives no identity', async () => ({ id: 'x', load: bug }) as never, 'ERR_INVALID_OPTION'],
    ['never gives anything', () => new Promise(() => {}), 'ERR_OPEN_TIMEOUT'],
    [
      'fails when it is aborted',
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone')))),
      'ERR_OPEN_TIMEOUT',
    ],
  ]
  for (const [what, load, code] of loads) {
    it(`\`load\` ${what}: that dial fails with ${code}, and nothing is left`, async () => {
      const pool = startPool({ openTimeoutMillis: 200 })
      await assert.rejects(pool.acquire({ ...host.target, identity: { id: 'rotating', load } }), { code })
      ;(await pool.acquire(host.target)).release()
      await pool.close()
      assert.deepEqual(pool.resources(), [])
    })
  }
})
