import type { TunnelPool } from '../../api/pool.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { KEPT, shownFact } from './projection.ts'
import type { Sample, ShownFact } from './wire.ts'

const MOST_FACTS = 40
const MOST_DESTINATIONS = 20_000
const EVERY_MILLIS = 2_000
/** Ten minutes. */
const MOST_SAMPLES = 300

/** What has been, from the making of the inspector on, whether or not somebody looks: bounded, and nothing per lease or check. */
export class History {
  readonly samples: Sample[] = []
  readonly #facts = new Map<string, ShownFact[]>()
  readonly #pool: TunnelPool
  readonly #clock: Clock
  readonly #forgets: Array<() => void> = []
  #timer: unknown
  #before = { lost: 0, failed: 0 }

  constructor(pool: TunnelPool, clock = systemClock) {
    this.#pool = pool
    this.#clock = clock
    const { lost, failed } = pool.stats
    this.#before = { lost, failed }
    for (const name of KEPT) {
      const keep = (fact: Parameters<typeof shownFact>[1]) =>
        this.#keep(fact.destination, shownFact(name, fact, clock.date().getTime()))
      pool.on(name, keep)
      this.#forgets.push(() => pool.off(name, keep))
    }
    this.#sample()
  }

  of(destination: string): readonly ShownFact[] {
    return this.#facts.get(destination) ?? []
  }

  end(): void {
    for (const forget of this.#forgets) forget()
    this.#clock.clearTimeout(this.#timer)
  }

  #keep(destination: string, fact: ShownFact): void {
    const facts = this.#facts.get(destination) ?? []
    facts.push(fact)
    if (facts.length > MOST_FACTS) facts.shift()
    // The one that something happened to last is the last to be forgotten.
    this.#facts.delete(destination)
    this.#facts.set(destination, facts)
    if (this.#facts.size <= MOST_DESTINATIONS) return
    for (const oldest of this.#facts.keys()) {
      this.#facts.delete(oldest)
      return
    }
  }

  #sample(): void {
    const { tunnels, leases, lost, failed } = this.#pool.stats
    const at = this.#clock.date().getTime()
    this.samples.push({ at, ...tunnels, leases, lost: lost - this.#before.lost, failed: failed - this.#before.failed })
    if (this.samples.length > MOST_SAMPLES) this.samples.shift()
    this.#before = { lost, failed }
    this.#timer = this.#clock.setTimeout(() => this.#sample(), EVERY_MILLIS)
  }
}
