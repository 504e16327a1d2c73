import type { ResolvedPoolOptions } from '../options.ts'
import { Gate, rankOf } from './gate.ts'
import { type DialPlace, Passage } from './passage.ts'

export type { DialPlace }

/** Who asks for a place to dial. */
export interface DialRequest {
  /** What logins are counted by: `ResolvedTarget.address`. */
  readonly address: string
  /** Whether the destination's last dial failed. */
  readonly isFailing: boolean
  readonly isJump?: boolean | undefined
  /** Ends the wait; the promise rejects with its reason. */
  readonly signal: AbortSignal
}

/**
 * Who may dial now. A dial takes a place at its address until it is released, one among the connecting (a descriptor, no CPU) until its
 * banner is there, and one among the opening (CPU) from then on. Every operation is O(1), however many wait.
 */
export class DialLimits {
  readonly #connecting: Gate
  readonly #opening: Gate
  readonly #addresses = new Map<string, Gate>()
  readonly #perAddress: number
  #waiting = 0

  constructor(limits: Pick<ResolvedPoolOptions, 'maxConnecting' | 'maxOpening' | 'maxOpeningPerAddress'>) {
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

  /** Addresses at which somebody dials or waits. */
  get addresses(): number {
    return this.#addresses.size
  }

  /** Waits until a dial may connect. Whoever gets the place must release it, whatever the signal has done meanwhile. */
  async enter({ address, isFailing, isJump = false, signal }: DialRequest): Promise<DialPlace> {
    const rank = rankOf(isFailing, isJump)
    const passage = new Passage({
      address: (granted) => this.#gateOf(address).claim(rank, granted),
      connecting: (granted) => this.#connecting.claim(rank, granted),
      opening: (granted) => this.#opening.claim(rank, granted),
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
    const gate = new Gate(this.#perAddress, () => this.#addresses.delete(address))
    this.#addresses.set(address, gate)
    return gate
  }
}
