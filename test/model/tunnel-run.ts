import assert from 'node:assert/strict'
import type { InspectionEvent } from 'xstate'
import { failure, turn } from '../machines/gates.ts'
import { TunnelWorld } from '../machines/tunnel-world.ts'
import type { TunnelFact } from './tunnel-model.ts'

const OTHER = 6
const OPEN_MILLIS = 10_000
const IDLE_MILLIS = 120_000
const PROBE_MILLIS = 5_000
const DRAIN_MILLIS = 10_000
const SECOND = 1_000
const STUCK_MILLIS = 60_000

/** The real machine with gates and a simulated clock, to which a model's facts are made to happen. */
export class TunnelRun {
  readonly world: TunnelWorld

  constructor(input: { isExclusive: boolean; needsDirectory: boolean }, inspect: (event: InspectionEvent) => void) {
    this.world = new TunnelWorld(input, inspect)
  }

  get state(): string {
    return this.world.state
  }

  async happen({ type }: TunnelFact): Promise<void> {
    this.#facts[type]()
    await turn()
  }

  /** Whatever state it is in, it is told to go, and goes; and everything that it began was freed or aborted. */
  async end(): Promise<void> {
    const { world } = this
    world.send({ type: 'tunnel.destroy', reason: 'the path is over' })
    for (let rounds = 0; rounds < 3 && world.tunnel.getSnapshot().status === 'active'; rounds += 1) {
      this.#freed(false)
      await turn()
    }
    assert.equal(world.tunnel.getSnapshot().status, 'done')
    // XState does not clean up what has thrown; the machine heard of it instead.
    if (!this.#isGuardianBroken) assert.equal(world.guardian, 'freed')
    assert.equal(world.news.filter((news) => news === 'ended').length, 1)
    assert.equal(world.news.at(-1), 'ended')
    assert.ok(world.news.filter((news) => news === 'opened').length <= 1)
    assert.equal(world.news.filter((news) => news === 'draining').length, 1)
    for (const gates of [world.directory, world.dial, world.probe, world.release] as const)
      for (const { signal } of gates.calls) if (!this.#answered.has(signal)) assert.ok(signal.aborted, 'a wait that nobody ended')
    assert.ok(world.cuts > 0, 'leases are cut before anything is freed')
  }

  #isGuardianBroken = false
  readonly #answered = new Set<AbortSignal>()

  #answer(gates: 'directory' | 'dial' | 'probe' | 'release', fail?: string): void {
    const gate = this.world[gates].last()
    this.#answered.add(gate.signal)
    if (fail === undefined) gate.open()
    else gate.fail(failure(fail))
  }

  #freed(isHeld: boolean): void {
    this.world.isHeld = isHeld
    this.#answer('release')
  }

  readonly #lease = (type: 'lease.taken' | 'lease.returned' | 'lease.faulted', generation: number) => () =>
    void this.world.send({ type, generation, lease: 'lease-1' })
  readonly #pass = (millis: number) => () => void this.world.pass(millis)

  readonly #facts: Readonly<Record<TunnelFact['type'], () => void>> = {
    take: this.#lease('lease.taken', 7),
    'give back': this.#lease('lease.returned', 7),
    'fault of a lease': this.#lease('lease.faulted', 7),
    'take other': this.#lease('lease.taken', OTHER),
    'give back other': this.#lease('lease.returned', OTHER),
    'fault of other': this.#lease('lease.faulted', OTHER),
    verify: () => void this.world.send({ type: 'tunnel.verify' }),
    close: () => void this.world.close(),
    hurry: () => void this.world.close({ withinMillis: DRAIN_MILLIS / 2, graceMillis: SECOND / 2 }),
    destroy: () => void this.world.send({ type: 'tunnel.destroy', reason: 'destroyed' }),
    bug: () => void this.world.send({ type: 'tunnel.fault', message: 'a bug' }),
    'env.lost': () => void this.world.lose(),
    'env.lost other': () => void this.world.lose('ERR_LOST', OTHER),
    'env.jump lost': () => void this.world.send({ type: 'tunnel.lost', generation: 7, code: 'ERR_LOST', isJumps: true }),
    'env.guardian broke': () => {
      this.#isGuardianBroken = true
      this.world.breakGuardian()
    },
    'env.directory made': () => this.#answer('directory'),
    'env.directory refused': () => this.#answer('directory', 'ERR_RUNTIME_DIRECTORY'),
    'env.opened': () => this.#answer('dial'),
    'env.refused': () => this.#answer('dial', 'ERR_REFUSED'),
    'env.answered': () => this.#answer('probe'),
    'env.silent': () => this.#answer('probe', 'ERR_LOST'),
    'env.freed': () => this.#freed(false),
    'env.freed, but held': () => this.#freed(true),
    'env.stays': () => this.#answer('release', 'ERR_STUCK'),
    'env.time.open': this.#pass(OPEN_MILLIS),
    'env.time.idle': this.#pass(IDLE_MILLIS),
    'env.time.probe': this.#pass(PROBE_MILLIS),
    'env.time.drain': this.#pass(DRAIN_MILLIS),
    'env.time.grace': this.#pass(SECOND),
    'env.time.force': this.#pass(SECOND),
    'env.time.stuck': this.#pass(STUCK_MILLIS),
  }
}
