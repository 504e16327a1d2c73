import { type ActorRefFrom, createActor, fromCallback, type InspectionEvent, SimulatedClock, setup } from 'xstate'
import type { TunnelEvent, TunnelInput, TunnelName, TunnelReport } from '../../machines/events.ts'
import { tunnelMachine } from '../../machines/tunnel.ts'
import { Gates, pathOf, turn } from './gates.ts'

const INPUT: TunnelInput = {
  destination: 'ops@gpu-7:22#1',
  generation: 7,
  isExclusive: false,
  needsDirectory: false,
  times: {
    openTimeoutMillis: 10_000,
    idleTimeoutMillis: 120_000,
    probeTimeoutMillis: 5_000,
    drainTimeoutMillis: 10_000,
    closeGraceMillis: 1_000,
  },
}

/** One tunnel's machine below a parent that writes down what it is told; nothing is real but the statechart. */
export class TunnelWorld {
  readonly clock = new SimulatedClock()
  readonly directory = new Gates<TunnelName, void>()
  readonly dial = new Gates<TunnelName, void>()
  readonly probe = new Gates<TunnelName, void>()
  readonly release = new Gates<TunnelName & { force: boolean }, void>()
  readonly told: TunnelReport[] = []
  /** Whether something is in the scope, whatever `release` says. */
  isHeld = false
  /** Times that the leases were cut. */
  cuts = 0
  guardian: 'none' | 'watching' | 'freed' = 'none'
  readonly tunnel: ActorRefFrom<typeof tunnelMachine>
  readonly #parent: { stop(): unknown }

  #breakGuardian = () => {}

  constructor(
    input: Partial<Omit<TunnelInput, 'times'>> & { times?: Partial<TunnelInput['times']> } = {},
    inspect: (event: InspectionEvent) => void = () => {},
  ) {
    const { told } = this
    const machine = tunnelMachine.provide({
      actors: {
        guardian: fromCallback<TunnelEvent, TunnelName>(({ receive }) => {
          this.guardian = 'watching'
          receive(() => {
            throw new Error('a bug of the guardian')
          })
          this.#breakGuardian = () => void this.tunnel.getSnapshot().children.guardian?.send({ type: 'tunnel.verify' })
          return () => {
            this.guardian = 'freed'
          }
        }),
        makeDirectory: this.directory.logic,
        dial: this.dial.logic,
        probe: this.probe.logic,
        release: this.release.logic,
      },
      actions: {
        cutLeases: () => {
          this.cuts += 1
        },
      },
      guards: { scopeIsHeld: () => this.isHeld },
    })
    const parent = createActor(
      setup({ types: {} as { events: TunnelReport }, actors: { tunnel: machine } }).createMachine({
        invoke: {
          id: 'tunnel',
          src: 'tunnel',
          input: { ...INPUT, ...input, times: { ...INPUT.times, ...input.times } },
          onError: {},
        },
        on: { 'tunnel.*': { actions: ({ event }) => void told.push(event) } },
      }),
      { clock: this.clock, inspect },
    )
    this.#parent = parent
    parent.start()
    this.tunnel = parent.getSnapshot().children.tunnel as typeof this.tunnel
  }

  get state(): string {
    return pathOf(this.tunnel.getSnapshot().value)
  }

  get known() {
    return this.tunnel.getSnapshot().context
  }

  /** Kinds of what the parent was told, in order. */
  get news(): string[] {
    return this.told.map(({ type }) => type.replace('tunnel.', ''))
  }

  send(...events: TunnelEvent[]): this {
    for (const event of events) this.tunnel.send(event)
    return this
  }

  take(generation = INPUT.generation): this {
    return this.send({ type: 'lease.taken', generation, lease: 'lease-1' })
  }

  giveBack(generation = INPUT.generation): this {
    return this.send({ type: 'lease.returned', generation, lease: 'lease-1' })
  }

  close(bounds: { withinMillis?: number; graceMillis?: number } = {}): this {
    return this.send({ type: 'tunnel.close', reason: 'closed by the test', ...bounds })
  }

  lose(code = 'ERR_LOST', generation = INPUT.generation): this {
    return this.send({ type: 'tunnel.lost', generation, code })
  }

  /** Its guardian throws at what it is told. */
  breakGuardian(): void {
    this.#breakGuardian()
  }

  pass(millis: number): this {
    this.clock.increment(millis)
    return this
  }

  /** Everything is given back. */
  async released(): Promise<this> {
    this.release.last().open()
    await turn()
    return this
  }

  /** Somebody stops the actor, not the machine itself. */
  stopFromOutside(): void {
    this.#parent.stop()
  }
}

/** A tunnel that is open and idle. */
export async function openTunnel(input: ConstructorParameters<typeof TunnelWorld>[0] = {}): Promise<TunnelWorld> {
  const world = new TunnelWorld(input)
  world.dial.last().open()
  await turn()
  return world
}
