import type { ResolvedTarget } from '../target.ts'
import type { Acquaintances } from './accept-new.ts'
import type { HostKey, KnownKey } from './key.ts'
import { Known } from './known.ts'
import { objection } from './known-hosts.ts'

/** Keys accepted at first contact and kept for as long as this object, whatever else is forgotten of the host. */
export class RememberedKeys implements Acquaintances {
  readonly #keys = new Map<string, readonly KnownKey[]>()

  async lookUp(target: ResolvedTarget): Promise<Known> {
    return this.#known(target)
  }

  async add(target: ResolvedTarget, key: HostKey): Promise<void> {
    const known = this.#known(target)
    const error = objection(known, key.blob)
    if (error !== undefined) throw error
    if (known.keys.length > 0) return
    const source = `accepted at first contact, ${new Date().toISOString()}`
    this.#keys.set(nameOf(target), [{ ...key, source }])
  }

  #known(target: ResolvedTarget): Known {
    return new Known(target.hostKeyName, this.#keys.get(nameOf(target)) ?? [])
  }
}

const nameOf = (target: ResolvedTarget) => target.hostKeyName.toLowerCase()
