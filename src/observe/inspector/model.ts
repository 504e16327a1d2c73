import type { TunnelPool } from '../../api/pool.ts'
import type { InspectedEvent, PoolFacts } from '../../api/report.ts'
import { withoutFolders } from '../../shown.ts'
import { Leases } from './leases.ts'
import { statePath } from './projection.ts'
import type { ShownDestination, ShownStep } from './wire.ts'

/** Steps kept of each destination. */
const MOST_STEPS = 16

interface Seen {
  readonly id: string
  readonly logic: { readonly config?: { readonly id?: string } }
  readonly _parent: Seen | undefined
}
interface Snapshot {
  readonly status?: string
  readonly value?: unknown
  readonly context?: Readonly<Record<string, unknown>>
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

interface Machine {
  state: string
  since: number
  reason: string | undefined
  code: string | undefined
}

class Place {
  readonly label: string | undefined
  readonly machine: Machine
  readonly tunnels = new Map<number, Machine>()
  readonly steps: ShownStep[] = []
  failures = 0
  retryAt: number | undefined

  constructor({ label, since }: { label?: string | undefined; since?: Date }) {
    this.label = label
    this.machine = { state: '', since: since?.getTime() ?? Date.now(), reason: undefined, code: undefined }
  }
}

/** The pool as it is now, from XState's inspection events and the facts of leases; lives only while somebody looks. */
export class Model {
  readonly steps: ShownStep[] = []
  readonly leases: Leases
  state = 'serving'
  readonly #places = new Map<string, Place>()
  /** Of tunnels that were there before anybody looked. */
  readonly #openSince = new Map<number, number>()
  readonly #changed: (id: string) => void
  readonly #ends: Array<() => void>

  /** `changed` hears the id of each destination of which something is new. */
  constructor(pool: TunnelPool, changed: (id: string) => void) {
    this.#changed = changed
    const { leases, tunnels } = pool.report()
    this.leases = new Leases(pool, leases, changed)
    for (const { generation, since } of tunnels) this.#openSince.set(generation, since.getTime())
    const rest = ({ destination, retryAt }: PoolFacts['destination.resting']) => {
      const place = this.#places.get(destination)
      if (place !== undefined) place.retryAt = retryAt.getTime()
      changed(destination)
    }
    pool.on('destination.resting', rest)
    this.#ends = [() => pool.off('destination.resting', rest), () => this.leases.end(), pool.inspect((event) => this.#see(event))]
  }

  end(): void {
    for (const end of this.#ends) end()
  }

  ids(): IterableIterator<string> {
    return this.#places.keys()
  }

  stepsOf(id: string): readonly ShownStep[] {
    return this.#places.get(id)?.steps ?? []
  }

  /** One destination as it may be shown; `undefined` when it is gone. */
  show(id: string): ShownDestination | undefined {
    const place = this.#places.get(id)
    if (place === undefined) return undefined
    const { machine, tunnels, failures, retryAt } = place
    const isDown = /^(resting|barred)/.test(machine.state)
    return {
      id,
      label: place.label,
      state: machine.state,
      since: machine.since,
      failures,
      code: isDown || (failures > 0 && !machine.state.startsWith('serving')) ? machine.code : undefined,
      retryAt: isDown ? retryAt : undefined,
      tunnels: [...tunnels].map(([generation, tunnel]) => ({
        generation,
        state: tunnel.state,
        since: tunnel.since,
        leases: this.leases.count(generation),
        reason: tunnel.reason === undefined || tunnel.reason === '' ? undefined : withoutFolders(tunnel.reason),
        code: tunnel.code,
      })),
    }
  }

  #see({ type, actorRef, snapshot, event, about }: InspectedEvent): void {
    if (type === '@xstate.event') return
    const actor = actorRef as Seen
    const now = (snapshot ?? {}) as Snapshot
    const cause = (event as { type?: string } | undefined)?.type ?? ''
    const kind = actor.logic.config?.id
    if (kind === 'pool') this.#seePool(now, cause)
    else if (kind === 'destination') {
      if (type === '@xstate.actor') this.#places.set(actor.id, new Place((about ?? {}) as ConstructorParameters<typeof Place>[0]))
      this.#seeDestination(actor.id, now, cause)
    } else if (kind === 'tunnel' && actor._parent !== undefined) this.#seeTunnel(actor._parent.id, actor.id, now, cause)
  }

  #seePool({ value }: Snapshot, event: string): void {
    const to = statePath(value)
    if (to === '' || to === this.state) return
    keep(this.steps, { at: Date.now(), of: 'pool', from: this.state, to, event })
    this.state = to
  }

  #seeDestination(id: string, snapshot: Snapshot, event: string): void {
    if (snapshot.status === 'done' || snapshot.status === 'error' || snapshot.status === 'stopped') {
      this.#places.delete(id)
      this.#changed(id)
      return
    }
    const place = this.#places.get(id)
    if (place === undefined) return
    move(place.machine, snapshot, (from, to) => keep(place.steps, { at: Date.now(), of: 'destination', from, to, event }))
    const { failures, code } = snapshot.context ?? {}
    place.failures = typeof failures === 'number' ? failures : 0
    place.machine.code = typeof code === 'string' ? code : undefined
    this.#changed(id)
  }

  #seeTunnel(id: string, name: string, snapshot: Snapshot, event: string): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    const generation = Number(name.slice('tunnel-'.length))
    const tunnel = place.tunnels.get(generation) ?? {
      state: '',
      since: this.#openSince.get(generation) ?? Date.now(),
      reason: undefined,
      code: undefined,
    }
    move(tunnel, snapshot, (from, to) => keep(place.steps, { at: Date.now(), of: generation, from, to, event }))
    const { reason, code } = snapshot.context ?? {}
    tunnel.reason = typeof reason === 'string' ? reason : undefined
    tunnel.code = typeof code === 'string' ? code : undefined
    if (snapshot.status === undefined || snapshot.status === 'active') place.tunnels.set(generation, tunnel)
    else place.tunnels.delete(generation)
    this.#changed(id)
  }
}

function keep(steps: ShownStep[], step: ShownStep): void {
  steps.push(step)
  if (steps.length > MOST_STEPS) steps.shift()
}

function move(machine: Mutable<Machine>, { value }: Snapshot, moved: (from: string, to: string) => void): void {
  const to = statePath(value)
  if (to === '' || to === machine.state) return
  if (machine.state !== '') {
    if (machine.state.split('.')[0] !== to.split('.')[0]) machine.since = Date.now()
    moved(machine.state, to)
  }
  machine.state = to
}
