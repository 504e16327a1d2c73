import { type ActorRefFrom, createActor, fromCallback, type InspectionEvent, SimulatedClock } from 'xstate'
import { destinationMachine } from '../../machines/destination.ts'
import type { Admission, DestinationEvent, DestinationInput, TunnelEvent, TunnelName } from '../../machines/events.ts'
import { tunnelMachine } from '../../machines/tunnel.ts'
import { failure, Gates, pathOf, turn } from './gates.ts'

const INPUT: DestinationInput = {
  id: 'ops@gpu-7:22#1',
  needsDirectory: false,
  hasJump: false,
  times: {
    backoffMinMillis: 250,
    backoffMaxMillis: 30_000,
    barredRetryMillis: 300_000,
    maxLifetimeMillis: Number.POSITIVE_INFINITY,
  },
  tunnelTimes: {
    openTimeoutMillis: Number.POSITIVE_INFINITY,
    idleTimeoutMillis: Number.POSITIVE_INFINITY,
    probeTimeoutMillis: 5_000,
    drainTimeoutMillis: 10_000,
    closeGraceMillis: 1_000,
  },
}

const NOTED = [
  'letJumpGo',
  'serve',
  'failWaiters',
  'dismissWaiters',
  'grantExclusive',
  'failExclusive',
  'failSuccession',
  'announceStuck',
  'refuseStuck',
  'refuseExclusive',
  'depart',
  'autopsy',
] as const
export type Noted = (typeof NOTED)[number]

/** One destination's machine with real tunnel machines below it; places, dials and releases are gates, and what it does is written down. */
export class DestinationWorld {
  readonly clock = new SimulatedClock()
  readonly admission = new Gates<{ id: string; isFailing: boolean }, Admission>()
  readonly jump = new Gates<{ id: string }, void>()
  readonly dial = new Gates<TunnelName, void>()
  readonly probe = new Gates<TunnelName, void>()
  readonly release = new Gates<TunnelName & { force: boolean }, void>()
  /** What it did, in order: an action's name and the generation that it was about. */
  readonly done: Array<[Noted, number | undefined]> = []
  mayDialNow = true
  hasNoRoom = false
  isIdle = false
  isKept = false
  /** Whether tunnels give everything back as soon as they are told to. */
  isReleasing = true
  readonly actor: ActorRefFrom<typeof destinationMachine>
  #generations = 0

  constructor(
    times: Partial<DestinationInput['times']> = {},
    hasJump = false,
    inspect: (event: InspectionEvent) => void = () => {},
  ) {
    const noting =
      (name: Noted) =>
      ({ event }: { event: DestinationEvent }) =>
        void (name !== 'letJumpGo' || hasJump
          ? this.done.push([name, 'generation' in event ? event.generation : undefined])
          : undefined)
    const tunnel = tunnelMachine.provide({
      actors: {
        guardian: fromCallback<TunnelEvent, TunnelName>(() => () => {}),
        makeDirectory: this.dial.logic,
        dial: this.dial.logic,
        probe: this.probe.logic,
        release: this.release.logic,
      },
    })
    const machine = destinationMachine.provide({
      actors: { tunnel, admission: this.admission.logic, jump: this.jump.logic },
      actions: Object.fromEntries(NOTED.map((name) => [name, noting(name)])),
      guards: {
        mayDialNow: () => this.mayDialNow,
        hasNoRoom: () => this.hasNoRoom,
        isIdle: () => this.isIdle,
        isKept: () => this.isKept,
      },
    })
    this.actor = createActor(machine, {
      clock: this.clock,
      inspect,
      input: { ...INPUT, hasJump, times: { ...INPUT.times, ...times } },
    })
    this.actor.subscribe({ error: () => {} })
    this.actor.start()
  }

  get state(): string {
    return pathOf(this.actor.getSnapshot().value)
  }

  get known() {
    return this.actor.getSnapshot().context
  }

  /** How often it did something. */
  times(name: Noted): number {
    return this.done.filter(([done]) => done === name).length
  }

  send(...events: DestinationEvent[]): this {
    for (const event of events) this.actor.send(event)
    return this
  }

  want(): this {
    return this.send({ type: 'dial.wanted' })
  }

  force(): this {
    return this.send({ type: 'dial.wanted' }, { type: 'dial.forced' })
  }

  retire(force = false): this {
    return this.send({ type: 'destination.retire', force })
  }

  pass(millis: number): this {
    this.clock.increment(millis)
    return this
  }

  /** The machine of one tunnel. */
  tunnel(generation: number): ActorRefFrom<typeof tunnelMachine> {
    const child = this.actor.getSnapshot().children[`tunnel-${generation}`]
    if (child === undefined) throw new Error(`no tunnel ${generation}`)
    return child as ActorRefFrom<typeof tunnelMachine>
  }

  tunnelState(generation: number): string {
    return pathOf(this.tunnel(generation).getSnapshot().value)
  }

  /** Grants the lease on the jump that it waits for. */
  async jumped(): Promise<void> {
    this.jump.last().open()
    await this.settle()
  }

  /** Grants the place that it waits for; the generation that is dialled in it. */
  async admit(): Promise<number> {
    this.#generations += 1
    this.admission.last().open({ generation: this.#generations })
    await this.settle()
    return this.#generations
  }

  /** An exclusive tunnel is admitted. */
  async admitExclusive(): Promise<number> {
    this.#generations += 1
    this.send({ type: 'exclusive.admitted', generation: this.#generations })
    await this.settle()
    return this.#generations
  }

  async opened(generation: number): Promise<void> {
    this.dial.last((input) => input.generation === generation).open()
    await this.settle()
  }

  async failed(generation: number, code = 'ERR_REFUSED'): Promise<void> {
    this.dial.last((input) => input.generation === generation).fail(failure(code))
    await this.settle()
  }

  async lost(generation: number, code = 'ERR_LOST'): Promise<void> {
    this.tunnel(generation).send({ type: 'tunnel.lost', generation, code })
    await this.settle()
  }

  /** All that was told to release has, unless it is stuck. */
  async settle(): Promise<void> {
    await turn()
    while (this.isReleasing) {
      const pending = this.release.calls.splice(0)
      if (pending.length === 0) return
      for (const { open } of pending) open()
      await turn()
    }
  }
}

/** Serves generation 1. */
export async function servingWorld(times: Partial<DestinationInput['times']> = {}): Promise<DestinationWorld> {
  const world = new DestinationWorld(times).want()
  await world.opened(await world.admit())
  return world.send({ type: 'dial.unwanted' })
}

/** Has failed as often as codes are given, and rests or is barred by the last. */
export async function failedWorld(
  codes: readonly string[],
  times: Partial<DestinationInput['times']> = {},
): Promise<DestinationWorld> {
  const world = new DestinationWorld(times)
  for (const code of codes) await failOnce(world, code)
  return world
}

/** One more dial, however long it has to rest for that, and it fails. */
export async function failOnce(world: DestinationWorld, code: string): Promise<void> {
  // One more than that: the simulated clock subtracts, and halves do not add up.
  if (world.state.startsWith('resting')) world.pass(world.known.restMillis + 1)
  world.want()
  await world.failed(await world.admit(), code)
  world.send({ type: 'dial.unwanted' })
}

/** Rests for at least so long: the jitter is drawn until it does. */
export async function restingWorld(leastMillis: number): Promise<DestinationWorld> {
  for (;;) {
    const world = await failedWorld(['ERR_REFUSED'], { backoffMinMillis: 30_000 })
    if (world.known.restMillis >= leastMillis) return world
  }
}
