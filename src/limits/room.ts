import { unlessAborted } from '../wait.ts'

/** Who waits for room, and since when (monotonic, ms): who has waited longest goes first. */
export interface RoomSeeker {
  readonly since: number
}

interface Place<Seeker> {
  readonly seeker: Seeker
  readonly grant: () => void
}

/** How many tunnels there may be at once; a place is held from before a tunnel is made until it is final. */
export class Room<Seeker extends RoomSeeker> {
  readonly #max: number
  /** Who has waited longest is the last. */
  readonly #line: Place<Seeker>[] = []
  /** Evicted and not gone yet: their places are spoken for. */
  readonly #leaving = new Set<object>()
  #taken = 0
  /** Asks a tunnel to close that nobody uses and says which. Told who is first in line, and how many leave already. */
  evict: (first: Seeker, leaving: number) => object | undefined = () => undefined

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#taken >= this.#max
  }

  get waiting(): number {
    return this.#line.length
  }

  /** Takes a place if there is one. */
  tryEnter(): boolean {
    if (this.isFull) return false
    this.#taken += 1
    return true
  }

  /** Waits for a place, and makes room by evicting. Rejects with the signal's reason. */
  async enter(signal: AbortSignal, seeker: Seeker): Promise<void> {
    signal.throwIfAborted()
    if (this.tryEnter()) return
    let place: Place<Seeker> | undefined
    const granted = new Promise<void>((grant) => {
      place = { seeker, grant }
      this.#join(place)
    })
    this.makeRoom()
    try {
      await unlessAborted(granted, signal)
    } catch (error) {
      const at = place === undefined ? -1 : this.#line.lastIndexOf(place)
      // Granted in the same turn as the abort: the place goes on to the next.
      if (at === -1) this.giveBack()
      else this.#line.splice(at, 1)
      throw error
    }
  }

  /** Almost everybody is the youngest: looked for from that end. */
  #join(place: Place<Seeker>): void {
    const { since } = place.seeker
    const at = this.#line.findIndex(({ seeker }) => seeker.since <= since)
    if (at === -1) this.#line.push(place)
    else this.#line.splice(at, 0, place)
  }

  /** A tunnel has become idle, or somebody waits: evicts as many as there are waiting, and no more. */
  makeRoom(): void {
    for (let first = this.#line.at(-1); first !== undefined && this.#leaving.size < this.#line.length; ) {
      const leaving = this.evict(first.seeker, this.#leaving.size)
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
    this.giveBack()
  }

  /** A place in which no tunnel was begun. */
  giveBack(): void {
    const next = this.#line.pop()
    if (next === undefined) this.#taken -= 1
    else next.grant()
  }
}
