import assert from 'node:assert/strict'
import { connect } from 'node:net'
import fc from 'fast-check'
import type { Lease, Target, TunnelPool } from '../../src/index.ts'
import { TunnelError } from '../../src/index.ts'
import { type Fleet, startFleet } from '../../src/testing/index.ts'
import { makePool } from '../pool/world.ts'
import { until } from '../support/until.ts'

/** Runs in the normal suite; `WARREN_FUZZ=1000` for more, `WARREN_SEED=…` for those of a failure, which are printed with it. */
const RUNS = Number(process.env.WARREN_FUZZ ?? 100)
const SEED = Number(process.env.WARREN_SEED ?? 7)
const HOSTS = 3

type Command =
  | {
      readonly do: 'acquire'
      readonly host: number
      readonly how: 'reject' | 'wait' | 'dial'
      readonly exclusive: boolean
      readonly forward: boolean
    }
  | { readonly do: 'release' | 'fault' | 'check' | 'abort'; readonly pick: number }
  | { readonly do: 'retire' | 'reset' | 'probe'; readonly host: number; readonly force: boolean }
  | { readonly do: 'freeze' | 'thaw' | 'sever' | 'garbage'; readonly host: number }
  | { readonly do: 'refuse' | 'rejectAuth' | 'muteChannels' | 'swallowFin'; readonly host: number; readonly on: boolean }
  | { readonly do: 'wait' }

const host = fc.nat({ max: HOSTS - 1 })
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('acquire' as const),
      host,
      how: fc.constantFrom('reject' as const, 'wait' as const, 'dial' as const),
      exclusive: fc.nat({ max: 4 }).map((n) => n === 0),
      forward: fc.nat({ max: 2 }).map((n) => n === 0),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('release' as const, 'fault' as const, 'check' as const, 'abort' as const),
      pick: fc.nat({ max: 20 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('retire' as const, 'reset' as const, 'probe' as const),
      host,
      force: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('freeze' as const, 'thaw' as const, 'sever' as const, 'garbage' as const), host }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('refuse' as const, 'rejectAuth' as const, 'muteChannels' as const, 'swallowFin' as const),
      host,
      on: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Command>({ do: 'wait' }) },
)

/** One pool, the hosts that it reaches, and all that was promised. */
class Run {
  readonly pool: TunnelPool
  readonly #fleet: Fleet
  readonly #leases: Lease[] = []
  readonly #aborts: AbortController[] = []
  #pending = 0
  readonly #strange: unknown[] = []

  constructor(fleet: Fleet) {
    this.#fleet = fleet
    this.pool = makePool({
      acquireTimeoutMillis: 120,
      openTimeoutMillis: 80,
      channelTimeoutMillis: 60,
      backoffMinMillis: 5,
      backoffMaxMillis: 20,
      keepAliveIntervalMillis: 40,
      keepAliveCountMax: 1,
      idleTimeoutMillis: 60,
      verifyAfterMillis: 30,
      drainTimeoutMillis: 30,
      closeGraceMillis: 2_000,
    })
  }

  /** Whatever comes of it must be a TunnelError or a result, and must come. */
  #promised(work: Promise<unknown>): void {
    this.#pending += 1
    work.then(
      () => {
        this.#pending -= 1
      },
      (error) => {
        this.#pending -= 1
        if (!TunnelError.is(error)) this.#strange.push(error)
      },
    )
  }

  async do(step: Command): Promise<void> {
    if (step.do === 'acquire') this.#acquire(step)
    else if (step.do === 'wait') await new Promise((resolve) => setTimeout(resolve, 5))
    else if ('pick' in step) this.#use(step)
    else if (step.do === 'retire' || step.do === 'reset' || step.do === 'probe') this.#manage(step)
    else if ('on' in step) this.#fleet.hosts[step.host]?.[step.do](step.on)
    else this.#fleet.hosts[step.host]?.[step.do]()
    await new Promise((resolve) => setImmediate(resolve))
    this.check()
  }

  #acquire({ host, how, exclusive, forward }: Command & { do: 'acquire' }): void {
    const one = this.#fleet.hosts[host]
    if (one === undefined) return
    const abort = new AbortController()
    this.#aborts.push(abort)
    const forwards = forward ? { web: { to: one.http } } : {}
    const lease = this.pool.acquire(one.target, { whenResting: how, exclusive, forwards, signal: abort.signal })
    this.#promised(lease.then((got) => void this.#leases.push(got as unknown as Lease)))
  }

  #use({ do: what, pick }: Command & { pick: number }): void {
    if (what === 'abort') {
      this.#aborts[pick % Math.max(1, this.#aborts.length)]?.abort()
      return
    }
    const lease = this.#leases[pick % Math.max(1, this.#leases.length)]
    if (lease === undefined) return
    if (what === 'release') lease.release()
    else if (what === 'fault') lease.release(new Error('it did not work'))
    else this.#promised(lease.connect({ port: 80 }).then((socket) => void socket.destroy()))
  }

  #manage({ do: what, host, force }: Command & { do: 'retire' | 'reset' | 'probe' }): void {
    const target = this.#fleet.targets[host]
    if (target === undefined) return
    if (what === 'reset') this.pool.reset(target)
    else if (what === 'retire') this.#promised(this.pool.retire(target, { force }))
    else this.#promised(this.pool.probe(target, { dial: force }))
  }

  /** What must hold whatever has happened. */
  check(): void {
    const { destinations, tunnels, opened, closed, waiting, leases } = this.pool.stats
    const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, count) => all + count, 0)
    assert.ok(sum(destinations) <= HOSTS, `${sum(destinations)} destinations of ${HOSTS} keys`)
    assert.ok(opened - closed >= tunnels.open && opened - closed <= tunnels.open + tunnels.draining, 'opened − closed = live')
    const report = this.pool.report()
    assert.equal(report.tunnels.length, sum(tunnels), 'the report and the counts agree')
    assert.equal(report.leases.length, leases)
    assert.equal(report.waiting.length, waiting)
    const owners = new Set(report.tunnels.map(({ destination, generation }) => `${destination} generation ${generation}`))
    for (const { owner, kind, label } of this.pool.resources())
      assert.ok(owner === 'pool' || owners.has(owner), `${kind} ${label} belongs to ${owner}, which is gone`)
    assert.deepEqual(this.#strange, [])
  }

  /** Closed: everything is settled, nothing is left, nothing is dialled any more. */
  async end(): Promise<void> {
    const isEven = this.#leases.length % 2 === 0
    await (isEven ? this.pool.close({ timeoutMillis: 20 }) : this.pool.destroy())
    assert.deepEqual(this.pool.resources(), [])
    await until(() => this.#pending === 0, { what: 'every promise has settled' })
    this.check()
    assert.deepEqual(this.pool.report(), { tunnels: [], leases: [], waiting: [], unreaped: this.pool.report().unreaped })
    for (const lease of this.#leases) lease.release()
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Connects, and waits until the host has had a turn to accept it, and whoever came before. */
async function knock({ host: name, port = 22 }: Target): Promise<void> {
  const socket = connect({ host: name, port })
  await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))
  await turn()
  await turn()
  socket.destroy()
}

describe('fuzz: a pool under any calls and faults', () => {
  it('keeps what it promises after each, and leaves nothing', async function () {
    this.timeout(30_000 + RUNS * 500)
    await using fleet = await startFleet({ hosts: HOSTS })
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 30, size: 'max' }), async (commands) => {
        for (const one of fleet.hosts) {
          one.thaw()
          for (const what of ['refuse', 'rejectAuth', 'muteChannels', 'swallowFin'] as const) one[what](false)
          one.sever()
        }
        const run = new Run(fleet)
        try {
          for (const step of commands) await run.do(step)
          await run.end()
        } finally {
          await run.pool.destroy().catch(() => {})
        }
        // What was dialled before the close may still wait to be accepted: those who knock behind it are counted after it.
        await Promise.all(fleet.targets.map(knock))
        const before = fleet.hosts.map(({ counts }) => counts.connections)
        await turn()
        assert.deepEqual(
          fleet.hosts.map(({ counts }) => counts.connections),
          before,
          'nothing is dialled after the close',
        )
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: RUNS <= 100 },
    )
  })
})
