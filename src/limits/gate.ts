import { Line, type Stander } from './line.ts'

/** Who goes before whom: those whose last dial failed after all others, and among each kind the jumps first, since others wait for them. */
export type Rank = 0 | 1 | 2 | 3

/** The rank of a dial. */
export function rankOf(isFailing: boolean, isJump: boolean): Rank {
  if (isFailing) return isJump ? 2 : 3
  return isJump ? 0 : 1
}
const isFailing = (rank: Rank) => rank >= 2

/** One dial's claim on one place of a gate: it stands in line, then holds the place, then is gone. */
export class Claim implements Stander<Claim> {
  before: Claim | undefined
  after: Claim | undefined
  isStanding = false
  isHolding = false
  readonly rank: Rank
  readonly granted: () => void
  readonly #gate: Gate

  constructor(gate: Gate, rank: Rank, granted: () => void) {
    this.#gate = gate
    this.rank = rank
    this.granted = granted
  }

  /** Leaves the line, or gives the place to the next. Idempotent. */
  leave(): void {
    this.#gate.leave(this)
  }
}

/** So many places and a line before each rank. Failing dials hold half of the places at most (or fewer), so that they cannot keep all of them through their timeouts. */
export class Gate {
  readonly #limit: number
  readonly #failingLimit: number
  readonly #emptied: (() => void) | undefined
  readonly #lines = [new Line<Claim>(), new Line<Claim>(), new Line<Claim>(), new Line<Claim>()] as const
  #held = 0
  #failing = 0

  /** `emptied` is called whenever nobody holds a place any longer; `failingLimit`: half, unless given. */
  constructor(limit: number, { emptied, failingLimit }: { emptied?: () => void; failingLimit?: number } = {}) {
    this.#limit = limit
    this.#failingLimit = failingLimit ?? Math.max(1, Math.floor(limit / 2))
    this.#emptied = emptied
  }

  /** Places that are held. */
  get held(): number {
    return this.#held
  }

  /** Joins the line; `granted` is called when the place is there, which may be before this returns. */
  claim(rank: Rank, granted: () => void): Claim {
    const claim = new Claim(this, rank, granted)
    this.#lines[rank].join(claim)
    this.#grant()
    return claim
  }

  /** @internal by way of `Claim.leave` */
  leave(claim: Claim): void {
    if (this.#lines[claim.rank].leave(claim) || !claim.isHolding) return
    claim.isHolding = false
    this.#held -= 1
    if (isFailing(claim.rank)) this.#failing -= 1
    this.#grant()
    // Nobody can be waiting then: a place that is free is granted.
    if (this.#held === 0) this.#emptied?.()
  }

  #grant(): void {
    while (this.#held < this.#limit) {
      const next = this.#next()
      if (next === undefined) return
      this.#lines[next.rank].leave(next)
      this.#held += 1
      if (isFailing(next.rank)) this.#failing += 1
      next.isHolding = true
      next.granted()
    }
  }

  #next(): Claim | undefined {
    const [healthyJumps, healthy, failingJumps, failing] = this.#lines
    return (
      healthyJumps.first ??
      healthy.first ??
      (this.#failing < this.#failingLimit ? (failingJumps.first ?? failing.first) : undefined)
    )
  }
}
