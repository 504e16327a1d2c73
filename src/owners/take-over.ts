import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomName } from './directory/names.ts'
import { checkPathLength } from './directory/path-length.ts'
import type { Ledger } from './ledger.ts'

/** Paths that were taken over and are held, by pool: it does not take them from itself. */
const held = new WeakMap<Ledger, Set<string>>()

const inUse = (what: string) => Object.assign(new Error(what), { code: 'EADDRINUSE' })

/** A unix path that a listener takes from whoever listens there, without a moment in which nobody does: it is bound beside it, and renamed over it. */
export class TakeOver {
  readonly path: string
  /** Where to bind. */
  readonly beside: string
  readonly #held: Set<string>
  #made: { readonly ino: bigint; readonly dev: bigint } | undefined

  /** @throws TunnelError `ERR_PATH_TOO_LONG` */
  constructor(path: string, ledger: Ledger) {
    this.path = path
    this.beside = join(dirname(path), `.${randomName()}`)
    checkPathLength(this.beside, undefined, 'choose a shorter directory: the successor is bound beside it')
    const known = held.get(ledger) ?? new Set()
    held.set(ledger, known)
    this.#held = known
  }

  /** Once it listens. Takes the place of a socket of our own user, or of nothing; throws as a bind would. */
  take(): void {
    if (this.#held.has(this.path)) throw inUse('this pool listens there already')
    const found = lstatSync(this.path, { bigint: true, throwIfNoEntry: false })
    if (found !== undefined && (!found.isSocket() || found.uid !== BigInt(process.getuid?.() ?? -1)))
      throw inUse('what stands there is not a socket of this user')
    const { ino, dev } = lstatSync(this.beside, { bigint: true })
    renameSync(this.beside, this.path)
    this.#made = { ino, dev }
    this.#held.add(this.path)
  }

  /** Removes the path, unless a successor has taken it. Does not throw. */
  leave(): void {
    if (this.#made === undefined) return
    this.#held.delete(this.path)
    try {
      if (!this.#isOurs(this.path)) return
      // A successor may come between the look and the deed: what is moved away is looked at, and put back if it is not ours.
      renameSync(this.path, this.beside)
      if (!this.#isOurs(this.beside)) linkSync(this.beside, this.path)
      unlinkSync(this.beside)
    } catch {
      // Gone already, or the next one has it.
    } finally {
      this.#made = undefined
    }
  }

  #isOurs(path: string): boolean {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return found !== undefined && found.ino === this.#made?.ino && found.dev === this.#made.dev
  }
}
