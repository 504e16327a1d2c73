import type { LedgerEntry } from '../api/report.ts'
import type { Ledger } from './ledger.ts'

/** How one resource is freed. Neither may throw (the others are freed all the same), wait, fork or need a new descriptor. */
export interface Release {
  /** Asks it to end; that it has ended is told by `Held.strike`. Default: `force`. */
  ask?: (() => void) | undefined
  /** Makes it end. Called again when the first time did not help. */
  force: () => void
  /** Freed only when everything entered after it is gone: a directory, after what lies in it. */
  afterNewer?: boolean | undefined
}

/** One resource in a scope, from before it exists until it is gone. */
export interface Held {
  readonly isGone: boolean
  /** The operating system says that it is gone. Idempotent. */
  strike(): void
  /** Replaces how it is asked to end, for an owner that puts a protocol on top of a socket. */
  askBy(ask: () => void): void
}

class Entry implements Held {
  isGone = false
  wasAsked = false
  readonly written: LedgerEntry
  readonly release: Release
  readonly #gone: (entry: Entry) => void

  constructor(written: LedgerEntry, release: Release, gone: (entry: Entry) => void) {
    this.written = written
    this.release = release
    this.#gone = gone
  }

  strike(): void {
    if (this.isGone) return
    this.isGone = true
    this.#gone(this)
  }

  askBy(ask: () => void): void {
    this.release.ask = ask
  }
}

function free(release: () => void): void {
  try {
    release()
  } catch {
    // It stays in the ledger, where it is seen, and is forced again; what is older than it must not wait for that.
  }
}

/** The part of a ledger that one tunnel (or the pool itself) owns, and the order in which it is given back: newest first. */
export class Scope {
  readonly ledger: Ledger
  readonly owner: string
  readonly #entries = new Set<Entry>()
  #mode: 'held' | 'asked' | 'forced' = 'held'
  #isProceeding = false
  #emptied: Array<() => void> = []

  constructor(ledger: Ledger, owner: string) {
    this.ledger = ledger
    this.owner = owner
  }

  get size(): number {
    return this.#entries.size
  }

  /** Whether it is being given back: what is entered from now on is freed at once. */
  get isReleasing(): boolean {
    return this.#mode !== 'held'
  }

  entries(): readonly LedgerEntry[] {
    return [...this.#entries].map((entry) => entry.written)
  }

  /** Enters a resource, before it is made. One that arrives while the scope is being released still belongs to it and is freed, on the next tick. */
  hold(kind: LedgerEntry['kind'], label: string, release: Release): Held {
    const entry = new Entry(this.ledger.enter(kind, label, this.owner), release, this.#strike)
    this.#entries.add(entry)
    if (this.isReleasing) this.#proceedSoon()
    return entry
  }

  /** Asks everything to end, newest first. */
  ask(): void {
    if (this.#mode === 'held') this.#mode = 'asked'
    this.#proceed()
  }

  /** Makes everything end, newest first; again on each call. */
  force(): void {
    this.#mode = 'forced'
    for (const entry of this.#newestFirst()) {
      entry.wasAsked = true
      if (!entry.isGone) free(entry.release.force)
    }
  }

  /** Resolves when nothing is left, however long that takes: whoever awaits it bounds it. */
  emptied(): Promise<void> {
    return this.#entries.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#emptied.push(resolve))
  }

  readonly #strike = (entry: Entry): void => {
    this.ledger.strike(entry.written)
    this.#entries.delete(entry)
    if (this.#entries.size > 0) {
      if (this.isReleasing) this.#proceedSoon()
      return
    }
    const waiting = this.#emptied
    this.#emptied = []
    for (const resolve of waiting) resolve()
  }

  /** Once per tick, however many entries were struck in it. */
  #proceedSoon(): void {
    if (this.#isProceeding) return
    this.#isProceeding = true
    process.nextTick(() => {
      this.#isProceeding = false
      this.#proceed()
    })
  }

  #newestFirst(): Entry[] {
    return [...this.#entries].reverse()
  }

  #proceed(): void {
    let isNewest = true
    for (const entry of this.#newestFirst()) {
      if (entry.isGone) continue
      if (!entry.wasAsked && (isNewest || entry.release.afterNewer !== true)) {
        entry.wasAsked = true
        free(this.#mode === 'forced' ? entry.release.force : (entry.release.ask ?? entry.release.force))
      }
      if (!entry.isGone) isNewest = false
    }
  }
}
