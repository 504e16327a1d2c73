import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt } from './directory/clear.ts'
import { ownUid, randomName } from './directory/names.ts'
import { checkPathLength, LONGEST_SOCKET_PATH } from './directory/path-length.ts'
import type { Ledger } from './ledger.ts'

/** How a listener comes by a path that the user has named: it must be free, or is taken from whoever listens there. */
export type Placing = 'exclusive' | 'takeOver'

/** The named paths that are held, by pool: none takes one from itself. */
const held = new WeakMap<Ledger, Set<string>>()

const inUse = (what: string) => Object.assign(new Error(what), { code: 'EADDRINUSE' })

/**
 * A unix path that others may take over, and that is removed only while it is ours: libuv unlinks the path that it bound when it closes it, whoever
 * listens there by then. To take one over, it is bound beside it and renamed over it, without a moment in which nobody listens.
 */
export class NamedPath {
  readonly path: string
  /** Where to bind. */
  readonly bound: string
  readonly #spare: string
  readonly #isTakingOver: boolean
  readonly #held: Set<string>
  #made: { readonly ino: bigint; readonly dev: bigint } | undefined

  /** @throws TunnelError `ERR_PATH_TOO_LONG` */
  constructor(path: string, placing: Placing, ledger: Ledger) {
    this.path = path
    this.#spare = join(dirname(path), `.${randomName()}`)
    this.#isTakingOver = placing === 'takeOver'
    if (this.#isTakingOver)
      checkPathLength(this.#spare, LONGEST_SOCKET_PATH, 'a successor is bound beside the path: choose a shorter directory')
    this.bound = this.#isTakingOver ? this.#spare : path
    this.#held = held.get(ledger) ?? new Set()
    held.set(ledger, this.#held)
  }

  /** Once it listens. Throws as a bind would. */
  take(): void {
    if (this.#isTakingOver && this.#held.has(this.path)) throw inUse('this pool listens there already')
    const { ino, dev } = lstatSync(this.bound, { bigint: true })
    if (this.#isTakingOver) this.#rename()
    this.#made = { ino, dev }
    this.#held.add(this.path)
  }

  /** Whether it was ours up to now. One that was taken over is removed; one that was bound goes with `close`. Does not throw. */
  leave(): boolean {
    if (this.#made === undefined) return true
    this.#held.delete(this.path)
    try {
      if (!this.#isOurs(this.path)) return false
      if (!this.#isTakingOver) return true
      // A successor may come between the look and the deed: what is moved away is looked at, and put back if it is not ours.
      renameSync(this.path, this.#spare)
      const wasOurs = this.#isOurs(this.#spare)
      if (!wasOurs) linkSync(this.#spare, this.path)
      unlinkSync(this.#spare)
      return wasOurs
    } catch {
      // Gone already, or the next one has it.
      return false
    }
  }

  /** Closes what was bound, and has libuv unlink nobody else's socket. */
  close(close: () => void): void {
    const isOthers = this.#made !== undefined && !this.#isTakingOver && this.#isSomebodyElses()
    if (isOthers) attempt(() => linkSync(this.path, this.#spare))
    close()
    if (isOthers) attempt(() => renameSync(this.#spare, this.path))
    this.#made = undefined
  }

  #rename(): void {
    const found = lstatSync(this.path, { bigint: true, throwIfNoEntry: false })
    if (found !== undefined && (!found.isSocket() || found.uid !== BigInt(ownUid())))
      throw inUse('what stands there is not a socket of this user')
    renameSync(this.bound, this.path)
  }

  #isSomebodyElses(): boolean {
    try {
      return lstatSync(this.path, { throwIfNoEntry: false }) !== undefined && !this.#isOurs(this.path)
    } catch {
      // Its directory is gone.
      return false
    }
  }

  #isOurs(path: string): boolean {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return found !== undefined && found.ino === this.#made?.ino && found.dev === this.#made.dev
  }
}
