import type { ShownDestination, ShownPool } from '../inspector/wire.ts'
import { STATES, topOf } from './words.ts'

/** A line of the tree. */
export type Line =
  | { readonly kind: 'pool' }
  | { readonly kind: 'destination'; readonly row: ShownDestination; readonly isOpen: boolean }
  | { readonly kind: 'tunnel'; readonly row: ShownDestination; readonly tunnel: ShownDestination['tunnels'][number] }

const collator = new Intl.Collator('en', { numeric: true })
/** More than its one open tunnel: there is something to see beneath it. */
const isLively = ({ tunnels }: ShownDestination) =>
  tunnels.length > 1 || tunnels.some(({ state }) => state.startsWith('draining'))

/** What the page knows of the pool, and which of it is to be seen. */
export class Store {
  readonly rows = new Map<string, ShownDestination>()
  readonly states = new Set<string>()
  pool: ShownPool | undefined
  isReady = false
  query = ''
  readonly #folds = new Map<string, boolean>()
  #order: string[] = []
  #isOrdered = true

  put(rows: readonly ShownDestination[]): void {
    for (const row of rows) {
      if (!this.rows.has(row.id)) this.#isOrdered = false
      this.rows.set(row.id, row)
    }
  }

  drop(ids: readonly string[]): void {
    for (const id of ids) if (this.rows.delete(id)) this.#isOrdered = false
  }

  clear(): void {
    this.rows.clear()
    this.#isOrdered = false
    this.isReady = false
  }

  isOpen(row: ShownDestination): boolean {
    return row.tunnels.length > 0 && (this.#folds.get(row.id) ?? isLively(row))
  }

  fold(id: string, isOpen: boolean): void {
    this.#folds.set(id, isOpen)
  }

  /** The lines to be seen, in order. */
  lines(): Line[] {
    const lines: Line[] = [{ kind: 'pool' }]
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean)
    for (const id of this.#ordered()) {
      const row = this.rows.get(id)
      if (row === undefined || !this.#isSeen(row, words)) continue
      const isOpen = this.isOpen(row)
      lines.push({ kind: 'destination', row, isOpen })
      if (isOpen) for (const tunnel of row.tunnels) lines.push({ kind: 'tunnel', row, tunnel })
    }
    return lines
  }

  counts(): Record<string, number> {
    const counts: Record<string, number> = Object.fromEntries(STATES.map((state) => [state, 0]))
    for (const { state } of this.rows.values()) counts[topOf(state)] = (counts[topOf(state)] ?? 0) + 1
    return counts
  }

  #isSeen({ id, label = '', state, code = '' }: ShownDestination, words: readonly string[]): boolean {
    if (this.states.size > 0 && !this.states.has(topOf(state))) return false
    if (words.length === 0) return true
    const text = `${id} ${label} ${state} ${code}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }

  #ordered(): readonly string[] {
    if (!this.#isOrdered) {
      const named = [...this.rows.values()].map(({ id, label }) => [label ?? id, id] as const)
      this.#order = named.sort(([a, x], [b, y]) => collator.compare(a, b) || collator.compare(x, y)).map(([, id]) => id)
    }
    this.#isOrdered = true
    return this.#order
  }
}
