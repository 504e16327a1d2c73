import { systemClock } from '../clock.ts'

const EVERY_MILLIS = 60_000
const MOST = 10_000
/** What a host that is down repeats for as long as it is down. */
const REPEATING: ReadonlySet<string> = new Set(['tunnel.lost', 'tunnel.failed', 'destination.resting', 'forward.refused'])

interface Repeated {
  at: number
  count: number
}

/** Holds back what a log has been told within the last minute: the same fact of the same destination for the same cause. */
export class Repeats {
  readonly #seen = new Map<string, Repeated>()
  readonly #now: () => number

  constructor(now: () => number = systemClock.now) {
    this.#now = now
  }

  /** How often it was held back since it was told last; `undefined` when it is held back now. */
  pass(name: string, fact: object): number | undefined {
    if (!REPEATING.has(name)) return 0
    const { destination, error } = fact as { destination?: string; error?: { code?: string } }
    const key = `${name} ${destination} ${error?.code}`
    const known = this.#seen.get(key)
    const now = this.#now()
    if (known !== undefined && now - known.at < EVERY_MILLIS) {
      known.count += 1
      return undefined
    }
    this.#seen.delete(key)
    this.#seen.set(key, { at: now, count: 0 })
    if (this.#seen.size > MOST) this.#forgetOldest()
    return known?.count ?? 0
  }

  #forgetOldest(): void {
    for (const key of this.#seen.keys()) {
      this.#seen.delete(key)
      return
    }
  }
}
