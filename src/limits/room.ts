import { unlessAborted } from '../wait.ts'

/** How many tunnels there may be at once; a place is held from before a tunnel is made until it is final. */
export class Room {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  #taken = 0
  #leaving = 0
  /** Asks the least recently used tunnel without a lease to close; false: there is none. */
  evict: () => boolean = () => false

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#taken >= this.#max
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Waits for a place, first come first served, and makes room by evicting. Rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (!this.isFull) {
      this.#taken += 1
      return
    }
    let grant: (() => void) | undefined
    const granted = new Promise<void>((resolve) => {
      grant = resolve
      this.#waiting.add(resolve)
    })
    this.makeRoom()
    try {
      await unlessAborted(granted, signal)
    } catch (error) {
      // Granted in the same turn as the abort: the place goes on to the next.
      if (grant !== undefined && !this.#waiting.delete(grant)) this.leave()
      throw error
    }
  }

  /** A tunnel has become idle, or somebody waits: evicts as many as there are waiting, and no more. */
  makeRoom(): void {
    while (this.#leaving < this.#waiting.size && this.evict()) this.#leaving += 1
  }

  /** A tunnel is final. */
  leave(): void {
    if (this.#leaving > 0) this.#leaving -= 1
    for (const grant of this.#waiting) {
      this.#waiting.delete(grant)
      grant()
      return
    }
    this.#taken -= 1
  }
}
