import type { ResolvedCheck } from './options.ts'

/** What many checks in a row say: healthy after so many, unhealthy after so many others. */
export class Verdict {
  healthy: boolean | undefined
  since = new Date(0)
  lastVerifiedAt = new Date(0)
  #inARow = 0
  #wasOk: boolean | undefined

  /** One more. True if that changes the verdict. */
  count(ok: boolean, { healthyAfter, unhealthyAfter }: ResolvedCheck): boolean {
    this.lastVerifiedAt = new Date()
    this.#inARow = ok === this.#wasOk ? this.#inARow + 1 : 1
    this.#wasOk = ok
    if (ok === this.healthy || this.#inARow < (ok ? healthyAfter : unhealthyAfter)) return false
    this.healthy = ok
    this.since = this.lastVerifiedAt
    return true
  }
}
