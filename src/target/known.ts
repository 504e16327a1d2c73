import type { ResolvedIdentity } from '../target.ts'

type Identities = readonly ResolvedIdentity[]
/** What all targets of one key have in common. */
export interface Shared {
  readonly id: string
  /** Those of the first: of two loaders with one id, its function is the one that is asked. */
  readonly identities: Identities
}

/**
 * Gives each key a short number, which it keeps as long as anybody holds a target of it: the identities, which all its targets
 * share, are held weakly, so that what was only ever looked at does not stay.
 */
export class Known {
  readonly #entries = new Map<string, { id: string; identities: WeakRef<Identities> }>()
  readonly #collected = new FinalizationRegistry<string>((key) => {
    if (this.#find(key) === undefined) this.#entries.delete(key)
  })
  #last = 0

  get size(): number {
    return this.#entries.size
  }

  /** What is shared under this key, which begins with `identities` when there is nothing yet. */
  share(key: string, name: string, identities: Identities): Shared {
    return this.#find(key) ?? this.#keep(key, { id: `${name}#${++this.#last}`, identities })
  }

  /** What is shared under this key, which is `again` when it was forgotten meanwhile. Without an allocation when nothing has changed. */
  confirm(key: string, again: Shared): Shared {
    if (this.#entries.get(key)?.id === again.id) return again
    return this.#find(key) ?? this.#keep(key, { id: again.id, identities: again.identities })
  }

  /** Lets the next target of this key begin anew. Not needed against growth. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

  #find(key: string): Shared | undefined {
    const entry = this.#entries.get(key)
    const identities = entry?.identities.deref()
    return entry === undefined || identities === undefined ? undefined : { id: entry.id, identities }
  }

  #keep(key: string, shared: Shared): Shared {
    this.#entries.set(key, { id: shared.id, identities: new WeakRef(shared.identities) })
    this.#collected.register(shared.identities, key)
    return shared
  }
}
