import { availableParallelism } from 'node:os'
import type { ResolvedPoolOptions } from '../options.ts'
import { Gate, rankOf } from './gate.ts'
import { type DialPlace, Passage } from './passage.ts'

export type { DialPlace }

/** Who asks for a place to dial. */
export interface DialRequest {
  /** What logins are counted by: `ResolvedTarget.route`. */
  readonly address: string
  /** Whether the destination's last dial failed. */
  readonly isFailing: boolean
  readonly isJump?: boolean | undefined
  /** Whether it starts a process that connects and opens by itself (openssh): that counts as opening from the start. */
  readonly isSpawning?: boolean | undefined
  /** Ends the wait; the promise rejects with its reason. */
  readonly signal: AbortSignal
}

type Limits = Pick<ResolvedPoolOptions, 'maxConnecting' | 'maxOpening' | 'maxOpeningPerAddress'> &
  Partial<Pick<ResolvedPoolOptions, 'isMaxOpeningGiven'>>

/** Processes that open at once, per core: more make none of them faster (22.9 per second with 8 on two cores, 22.5 with 60) and stall the loop. */
const SPAWNING_PER_CORE = 2

/**
 * Who may dial now. A dial takes a place at its address until it is released, one among the connecting (a descriptor, no CPU) until its
 * banner is there, and one among the opening (CPU) from then on. One that spawns takes one among the spawning from start to end; there, failing
 * dials share a single place, because each may hold it through a timeout. Every operation is O(1), however many wait.
 */
export class DialLimits {
  readonly #connecting: Gate
  readonly #opening: Gate
  readonly #spawning: Gate
  readonly #addresses = new Map<string, Gate>()
  readonly #perAddress: number
  #waiting = 0

  constructor(limits: Limits) {
    const spawning = limits.isMaxOpeningGiven === true ? limits.maxOpening : SPAWNING_PER_CORE * availableParallelism()
    this.#spawning = new Gate(spawning, { failingLimit: 1 })
    this.#connecting = new Gate(limits.maxConnecting)
    this.#opening = new Gate(limits.maxOpening)
    this.#perAddress = limits.maxOpeningPerAddress
  }

  /** Dials that wait to begin. */
  get waiting(): number {
    return this.#waiting
  }

  /** Dials that have begun and have not been let on to key exchange and login. */
  get connecting(): number {
    return this.#connecting.held
  }

  /** Dials at key exchange and login. */
  get opening(): number {
    return this.#opening.held
  }

  /** Dials that have a process of their own under way. */
  get spawning(): number {
    return this.#spawning.held
  }

  /** Addresses at which somebody dials or waits. */
  get addresses(): number {
    return this.#addresses.size
  }

  /** Waits until a dial may connect. Whoever gets the place must release it, whatever the signal has done meanwhile. */
  async enter({ address, isFailing, isJump = false, isSpawning = false, signal }: DialRequest): Promise<DialPlace> {
    const rank = rankOf(isFailing, isJump)
    const passage = new Passage({
      address: (granted) => this.#gateOf(address).claim(rank, granted),
      connecting: (granted) => (isSpawning ? this.#spawning : this.#connecting).claim(rank, granted),
      opening: isSpawning ? undefined : (granted) => this.#opening.claim(rank, granted),
    })
    this.#waiting += 1
    try {
      await passage.enter(signal)
    } finally {
      this.#waiting -= 1
    }
    return passage
  }

  #gateOf(address: string): Gate {
    const known = this.#addresses.get(address)
    if (known !== undefined) return known
    const gate = new Gate(this.#perAddress, { emptied: () => this.#addresses.delete(address) })
    this.#addresses.set(address, gate)
    return gate
  }
}
