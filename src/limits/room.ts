import { unlessAborted } from '../wait.ts'

/** How many tunnels there may be at once; a place is held from before a tunnel is made until it is final. */
export class Room {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  /** Evicted and not gone yet: their places are spoken for. */
  readonly #leaving = new Set<object>()
  #taken = 0
  /** Asks the least recently used tunnel without a lease to close, and says which. */
  evict: () => object | undefined = () => undefined

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
      if (grant !== undefined && !this.#waiting.delete(grant)) this.#free()
      throw error
    }
  }

  /** A tunnel has become idle, or somebody waits: evicts as many as there are waiting, and no more. */
  makeRoom(): void {
    while (this.#leaving.size < this.#waiting.size) {
      const leaving = this.evict()
      if (leaving === undefined) return
      this.#leaving.add(leaving)
    }
  }

  /** One that was evicted will not die: another goes in its stead. */
  despair(tunnel: object): void {
    if (this.#leaving.delete(tunnel)) this.makeRoom()
  }

  /** A tunnel is final. */
  leave(tunnel: object): void {
    this.#leaving.delete(tunnel)
    this.#free()
  }

  #free(): void {
    for (const grant of this.#waiting) {
      this.#waiting.delete(grant)
      grant()
      return
    }
    this.#taken -= 1
  }
}
