import type { ServerResponse } from 'node:http'
import type { TunnelPool } from '../../api/pool.ts'
import { type Clock, systemClock } from '../../clock.ts'
import type { History } from './history.ts'
import { Model } from './model.ts'
import { shownResource } from './projection.ts'
import { Viewer } from './viewer.ts'
import type { ShownDetail, ShownPool } from './wire.ts'

const MOST_VIEWERS = 16
const EVERY_MILLIS = 250

/** Everybody who looks. The pool is listened to while there is one, and no longer. */
export class Audience {
  readonly #pool: TunnelPool
  readonly #history: History
  readonly #clock: Clock
  readonly #viewers = new Set<Viewer>()
  #model: Model | undefined
  #timer: unknown

  constructor(pool: TunnelPool, history: History, clock = systemClock) {
    this.#pool = pool
    this.#history = history
    this.#clock = clock
  }

  get isFull(): boolean {
    return this.#viewers.size >= MOST_VIEWERS
  }

  /** Shows the pool to one more, from all that is there to whatever changes, until the response closes. */
  admit(response: ServerResponse): void {
    const model = this.#look()
    const viewer = new Viewer(response, model.ids())
    this.#viewers.add(viewer)
    // As fast as it reads, from the first to the last of many.
    response.on('drain', () => this.#tell(viewer, model))
    response.once('close', () => {
      this.#viewers.delete(viewer)
      if (this.#viewers.size === 0) this.#lookAway()
    })
    viewer.say('history', this.#history.samples)
    this.#tell(viewer, model)
  }

  /** What is known of one destination; from the model only while somebody looks. */
  detail(id: string): ShownDetail {
    const { tunnels, leases, waiting } = this.#pool.report()
    const own = tunnels.filter(({ destination }) => destination === id)
    return {
      id,
      steps: this.#model?.stepsOf(id) ?? [],
      facts: this.#history.of(id),
      leases: leases
        .filter(({ destination }) => destination === id)
        .map(({ id: lease, generation, label, since }) => ({ id: lease, generation, label, since: since.getTime() })),
      waiting: waiting
        .filter(({ destination }) => destination === id)
        .map((one) => ({ since: one.since.getTime(), for: one.for })),
      resources: own.flatMap(({ generation, resources }) => resources.map((entry) => shownResource(entry, generation))),
    }
  }

  end(): void {
    for (const viewer of this.#viewers) viewer.end()
    this.#lookAway()
  }

  #look(): Model {
    if (this.#model !== undefined) return this.#model
    const model = new Model(this.#pool, (id) => {
      for (const viewer of this.#viewers) viewer.mark(id)
    })
    this.#model = model
    this.#tick()
    return model
  }

  #lookAway(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#model?.end()
    this.#model = undefined
  }

  #tick(): void {
    this.#timer = this.#clock.setTimeout(() => {
      const model = this.#model
      if (model === undefined) return
      for (const viewer of this.#viewers) this.#tell(viewer, model)
      this.#tick()
    }, EVERY_MILLIS)
  }

  #tell(viewer: Viewer, model: Model): void {
    const pool: ShownPool = { at: this.#clock.date().getTime(), state: model.state, steps: model.steps, stats: this.#pool.stats }
    viewer.tell(model, pool, this.#history.samples.at(-1))
  }
}
