import { createHmac } from 'node:crypto'
import { LANES, Lanes } from './lanes.ts'
import { type HashedName, readHashedName } from './line.ts'
import { Pace } from './pace.ts'
import { LONGEST_NAME_BYTES, nameWords } from './sha1.ts'

/** Groups tried between two looks at the clock: 0.14 ms. */
const STRETCH_GROUPS = 512
/** Names remembered as tried; one that is forgotten is tried again, at 0.7 ms per 10,000 lines. */
const MOST_TRIED = 65_536

interface Entry extends HashedName {
  readonly text: string
  /** Lines are numbered as they are first seen, so that a name knows which have come since it was tried. */
  readonly serial: number
  isOpen: boolean
  owner: string | undefined
}

interface Waiter {
  readonly name: string
  readonly signals: Array<AbortSignal | undefined>
  readonly found: Promise<readonly string[]>
  settle(found: readonly string[] | Promise<never>): void
}

/**
 * Whose the hashed names of one known_hosts file are. A name is tried once against each line, over all versions of the file, and
 * against all of them: a host's keys may stand anywhere. A line that has found its name is not tried again. Look-ups share one
 * pass, cut into turns.
 */
export class HashedNames {
  readonly #entries = new Map<string, Entry>()
  readonly #found = new Map<string, Entry[]>()
  readonly #tried = new Map<string, number>()
  /** What is still nobody's, by serial, and in the same order in the lanes. */
  #open: Entry[] = []
  #taken = 0
  #serials = 0
  /** Files are mostly in the order their hosts are asked for: the next name begins at the line after the last hit. */
  #next = 0
  #changed: ReadonlySet<string> | undefined
  #waiting = new Map<string, Waiter>()
  #isPassing = false
  #lanes: Lanes | undefined

  /** From the next look-up on, exactly these names (`|1|salt|hash`) are in the file. */
  replace(names: ReadonlySet<string>): void {
    this.#changed = names
  }

  /** Those of the file's hashed names that are this name's, in lower case. Goes on without whoever aborts. */
  find(name: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    if (this.#changed === undefined && this.#tried.get(name) === this.#serials) return Promise.resolve(this.#of(name))
    const waiter = this.#waiting.get(name) ?? newWaiter(name)
    waiter.signals.push(signal)
    this.#waiting.set(name, waiter)
    if (!this.#isPassing) void this.#passes()
    return waiter.found
  }

  async #passes(): Promise<void> {
    this.#isPassing = true
    // Whoever asks in this turn of the loop is in the same pass.
    const pace = new Pace()
    await pace.nextTurn()
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.values()]
      this.#waiting = new Map()
      try {
        await this.#pass(batch, pace)
      } catch (error) {
        for (const waiter of batch) waiter.settle(Promise.reject(error))
      }
    }
    this.#isPassing = false
  }

  async #pass(batch: readonly Waiter[], pace: Pace): Promise<void> {
    await this.#refresh(pace)
    const isWanted = ({ signals }: Waiter) => !signals.every((signal) => signal?.aborted)
    // When those waiting may use up most of the lines, one hit each comes first: what then is left to be tried against all is
    // little.
    if (batch.length * 4 > this.#open.length) {
      for (const waiter of batch) if (isWanted(waiter)) await this.#try(waiter.name, pace, 'first hit')
    }
    for (const waiter of batch) {
      if (isWanted(waiter)) await this.#try(waiter.name, pace, 'all')
      waiter.settle(this.#of(waiter.name))
    }
  }

  async #refresh(pace: Pace): Promise<void> {
    const names = this.#changed
    if (names === undefined) return
    for (const [text, entry] of this.#entries) if (!names.has(text)) this.#drop(text, entry)
    this.#closeGaps()
    for (const text of names) {
      if (pace.isOver()) await pace.nextTurn()
      if (this.#entries.has(text)) continue
      const entry: Entry = { ...readHashedName(text), text, serial: this.#serials, isOpen: true, owner: undefined }
      this.#lanes ??= lanesIfAny()
      this.#lanes?.write(this.#open.length, entry)
      this.#open.push(entry)
      this.#entries.set(text, entry)
      this.#serials++
    }
    if (this.#changed === names) this.#changed = undefined
  }

  #drop(text: string, entry: Entry): void {
    this.#entries.delete(text)
    entry.isOpen = false
    if (entry.owner === undefined) return
    const others = this.#found.get(entry.owner)?.filter((one) => one !== entry) ?? []
    if (others.length > 0) this.#found.set(entry.owner, others)
    else this.#found.delete(entry.owner)
  }

  async #try(name: string, pace: Pace, until: 'first hit' | 'all'): Promise<void> {
    if (this.#tried.get(name) === this.#serials) return
    if (this.#taken * 4 > this.#open.length) this.#closeGaps()
    const bytes = Buffer.from(name)
    const words = bytes.length <= LONGEST_NAME_BYTES ? nameWords(bytes) : undefined
    const end = Math.ceil(this.#open.length / LANES)
    const first = Math.floor(this.#placeOf(this.#tried.get(name) ?? 0) / LANES)
    const start = Math.max(first, Math.floor(this.#placeOf(this.#next) / LANES))
    for (const [from, to] of [
      [start, end],
      [first, start],
    ] as const) {
      for (let group = from; group < to; ) {
        if (pace.isOver()) await pace.nextTurn()
        const last = Math.min(to, group + STRETCH_GROUPS)
        // Without lanes, or for a name too long for them, every group may be the one.
        const hit = words && this.#lanes ? this.#lanes.seek(words, group, last) : group
        if (hit < last && this.#take(name, bytes, hit) && until === 'first hit') return
        group = hit < last ? hit + 1 : last
      }
    }
    this.#remember(name)
  }

  #take(name: string, bytes: Buffer, group: number): boolean {
    let isHit = false
    for (const entry of this.#open.slice(group * LANES, (group + 1) * LANES)) {
      if (!entry.isOpen || !createHmac('sha1', entry.salt).update(bytes).digest().equals(entry.digest)) continue
      entry.isOpen = false
      entry.owner = name
      isHit = true
      this.#taken++
      this.#next = entry.serial + 1
      this.#found.set(name, [...(this.#found.get(name) ?? []), entry])
    }
    return isHit
  }

  #closeGaps(): void {
    this.#taken = 0
    let to = 0
    for (const [from, entry] of this.#open.entries()) {
      if (!entry.isOpen) continue
      this.#lanes?.move(from, to)
      this.#open[to++] = entry
    }
    this.#open.length = to
  }

  #remember(name: string): void {
    this.#tried.delete(name)
    this.#tried.set(name, this.#serials)
    for (const oldest of this.#tried.keys()) {
      if (this.#tried.size <= MOST_TRIED) break
      this.#tried.delete(oldest)
    }
  }

  #of(name: string): readonly string[] {
    return (this.#found.get(name) ?? []).map((entry) => entry.text)
  }

  /** The place in `#open` of the first line with at least this serial. */
  #placeOf(serial: number): number {
    let [low, high] = [0, this.#open.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#open[middle]?.serial ?? 0) < serial) low = middle + 1
      else high = middle
    }
    return low
  }
}

function newWaiter(name: string): Waiter {
  let settle: Waiter['settle'] = () => {}
  const found = new Promise<readonly string[]>((resolve) => {
    settle = resolve
  })
  return { name, signals: [], found, settle }
}

function lanesIfAny(): Lanes | undefined {
  try {
    return new Lanes()
  } catch {
    // The same answers without it, some 35 times slower.
    return undefined
  }
}
