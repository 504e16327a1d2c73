import { type BigIntStats, lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { dirSync } from 'tmp'
import type { Held, Scope } from '../scope.ts'
import { attempt, clear } from './clear.ts'
import { codeOf, isAbsent } from './disk-error.ts'
import { delist, enlist } from './living.ts'
import { ownUid, randomName } from './names.ts'
import { checkPathLength, LONGEST_SOCKET_PATH } from './path-length.ts'
import type { Reserve } from './reserve.ts'

const TRIES = 5

/** What a directory is made of. */
export interface Making {
  /** `tmp.dirSync`. */
  readonly mkdir: typeof dirSync
  readonly parent: string
  /** What its name begins with; the rest is random. */
  readonly prefix: string
  readonly label: string
  readonly scope: Scope
  readonly reserve: Reserve
  /** The directory of ours in which it lies, which is not removed before it. */
  readonly within?: OwnedDirectory | undefined
  /** Told once, when the operating system says that what was made is gone. */
  readonly gone?: (() => void) | undefined
}

/**
 * A directory (0700) with a random name and one owner. Every name in it is known, so that it can be removed without a descriptor.
 */
export class OwnedDirectory {
  readonly path: string
  readonly #making: Making
  readonly #held: Held
  readonly #names = new Set<string>()
  readonly #inside = new Set<OwnedDirectory>()
  #made: BigIntStats | undefined
  #isMade = false
  #claims = 0
  #isUnwanted = false

  /**
   * Makes one; throws what the system says, having taken back what it did. Synchronous, so that there is no moment, the process's
   * exit among them, in which it may or may not exist.
   */
  static make(making: Making): OwnedDirectory {
    for (let tries = TRIES; ; tries -= 1) {
      const directory = new OwnedDirectory(making)
      try {
        directory.#make()
        return directory
      } catch (error) {
        // tmp's own refusal of a name that exists has no code.
        const isTaken = codeOf(error) === 'EEXIST' || codeOf(error) === undefined
        if (!isTaken || tries === 1) throw error
      }
    }
  }

  private constructor(making: Making) {
    this.#making = making
    this.path = join(making.parent, making.prefix + randomName())
    this.#held = making.scope.hold('directory', `${this.path} (${making.label})`, {
      force: () => this.remove(),
      afterNewer: true,
    })
    if (making.within !== undefined) making.within.#inside.add(this)
    enlist(this)
  }

  /** Whether it is there, and is the one that was made: an age-based cleaner may have been faster. */
  get isThere(): boolean {
    const stats = lstatSync(this.path, { bigint: true, throwIfNoEntry: false })
    const made = this.#made
    return stats !== undefined && made !== undefined && stats.ino === made.ino && stats.dev === made.dev
  }

  /**
   * Full path of a name in it, which begins with a letter; without one, a short name that was never used in it. Whatever the
   * caller makes there is removed with the directory. Throws `ERR_PATH_TOO_LONG`; `longestBytes` is what a socket path may have
   * (fewer if somebody appends to it), Infinity for a file.
   */
  claim(name = this.#nextName(), longestBytes = LONGEST_SOCKET_PATH): string {
    const path = join(this.path, name)
    checkPathLength(path, longestBytes)
    this.#names.add(path)
    return path
  }

  /** Unlinks a path that was claimed, and forgets it once it is gone. */
  free(path: string): void {
    try {
      unlinkSync(path)
    } catch (error) {
      if (!isAbsent(error)) return
    }
    this.#names.delete(path)
  }

  /** It, all that is known to lie in it, and so on. */
  *paths(): Iterable<string> {
    yield this.path
    yield* this.#names
    for (const directory of this.#inside) yield* directory.paths()
  }

  /** Removes it, unless one of ours still lies in it: then when that is gone. Does not throw; what is left can be tried again. */
  remove(): void {
    this.#isUnwanted = true
    if (this.#held.isGone || this.#inside.size > 0) return
    if (this.#isElsewhere()) this.#strike()
    else this.#empty()
  }

  #empty(): void {
    for (const path of this.#names) attempt(() => unlinkSync(path))
    attempt(() => this.#rmdir())
    if (this.#held.isGone) return
    attempt(() => this.#making.reserve.lend(() => clear(Buffer.from(this.path))))
    attempt(() => this.#rmdir())
  }

  /** Counts in base 36, but only what begins with a digit: a name given by its maker does not. */
  #nextName(): string {
    this.#claims += 1
    const name = this.#claims.toString(36)
    if (/^\d/.test(name)) return name
    this.#claims = 36 ** name.length
    return this.#claims.toString(36)
  }

  #make(): void {
    const { mkdir, parent } = this.#making
    try {
      // A name, because a template is filled in wherever its XXXXXX stands first in the whole path; `keep`: off tmp's own exit
      // list.
      mkdir({ tmpdir: parent, name: basename(this.path), mode: 0o700, keep: true })
    } catch (error) {
      this.#strike()
      throw error
    }
    this.#isMade = true
    try {
      this.#made = lstatSync(this.path, { bigint: true })
      this.#check(this.#made)
    } catch (error) {
      this.remove()
      throw error
    }
  }

  #check(stats: BigIntStats): void {
    if (stats.isDirectory() && stats.uid === BigInt(ownUid()) && (stats.mode & 0o777n) === 0o700n) return
    const seen = `mode ${(stats.mode & 0o7777n).toString(8)}, uid ${stats.uid}`
    throw Object.assign(new Error(`${this.path} was made with mode 700 for uid ${ownUid()}, but has ${seen}`), { code: 'EPERM' })
  }

  /** Whether what stands at our path is not ours: then it is not ours to remove. */
  #isElsewhere(): boolean {
    try {
      return this.#made !== undefined && !this.isThere
    } catch {
      return false
    }
  }

  #rmdir(): void {
    try {
      rmdirSync(this.path)
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
    this.#strike()
  }

  #strike(): void {
    if (this.#held.isGone) return
    delist(this)
    this.#held.strike()
    if (this.#isMade) this.#making.gone?.()
    const { within } = this.#making
    if (within === undefined) return
    within.#inside.delete(this)
    if (within.#isUnwanted) within.remove()
  }
}
