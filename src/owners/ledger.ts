import type { LedgerEntry } from '../api/report.ts'

/** Everything a pool still has to give back, oldest first. When it is empty, nothing has leaked. */
export class Ledger {
  readonly #open = new Set<LedgerEntry>()
  #emptied: Array<() => void> = []

  /** Enters a resource before it is made; the entry is struck once the operating system says it is gone. */
  enter(kind: LedgerEntry['kind'], label: string, owner: string): LedgerEntry {
    const entry: LedgerEntry = { kind, label, owner, since: new Date() }
    this.#open.add(entry)
    return entry
  }

  /** Strikes an entry, which is harmless the second time. */
  strike(entry: LedgerEntry): void {
    if (!this.#open.delete(entry) || this.#open.size > 0) return
    const waiting = this.#emptied
    this.#emptied = []
    for (const resolve of waiting) resolve()
  }

  get size(): number {
    return this.#open.size
  }

  /** Still open, oldest first. */
  entries(): readonly LedgerEntry[] {
    return [...this.#open]
  }

  /** Resolves when nothing is left, however long that takes: whoever awaits it bounds it. */
  emptied(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#emptied.push(resolve))
  }
}
