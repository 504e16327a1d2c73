import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { dirSync } from 'tmp'
import type { Clock } from '../../clock.ts'
import type { Scope } from '../scope.ts'
import { writeBorn } from './born.ts'
import { type Making, OwnedDirectory } from './directory.ts'
import { poolPrefix } from './names.ts'
import { type Answer, OWNER, OwnerSocket } from './owner-socket.ts'
import { Reserve } from './reserve.ts'
import { Touch } from './touch.ts'

/** `<place>/warren-<uid>-<random>/`: what tells others whose it is and whether that pool lives, and the tunnels' directories. */
export class PoolDirectory {
  readonly #mkdir: typeof dirSync
  readonly #socket: OwnerSocket
  readonly #reserve: Reserve
  readonly #directory: OwnedDirectory
  #touch: Touch | undefined

  /** Makes all of it, or takes back what was made and rejects with what the system says. */
  static async make(place: string, scope: Scope, clock: Clock, mkdir: typeof dirSync, answer?: Answer): Promise<PoolDirectory> {
    const socket = new OwnerSocket(scope, answer)
    const reserve = new Reserve(scope)
    let made: PoolDirectory | undefined
    try {
      made = new PoolDirectory(place, scope, mkdir, socket, reserve)
      await made.#furnish(scope, clock)
      return made
    } catch (error) {
      made?.release()
      reserve.close()
      await socket.close()
      throw error
    }
  }

  /**
   * The socket and the reserve are entered before the directory, so that they are given back after it: nobody may take it for
   * dead while it exists.
   */
  private constructor(place: string, scope: Scope, mkdir: typeof dirSync, socket: OwnerSocket, reserve: Reserve) {
    this.#mkdir = mkdir
    this.#socket = socket
    this.#reserve = reserve
    const made: Making = { mkdir, parent: place, prefix: poolPrefix(), label: 'pool', scope, reserve, gone: () => this.#gone() }
    this.#directory = OwnedDirectory.make(made)
  }

  get path(): string {
    return this.#directory.path
  }

  /** Whether all that others go by is still there. */
  get isWhole(): boolean {
    return this.#directory.isThere && lstatSync(join(this.path, OWNER), { throwIfNoEntry: false })?.isSocket() === true
  }

  /** `<random>/` in it, owned by `scope`. */
  tunnelDirectory(scope: Scope, label: string): OwnedDirectory {
    const within = this.#directory
    return OwnedDirectory.make({
      mkdir: this.#mkdir,
      parent: within.path,
      prefix: '',
      label,
      scope,
      reserve: this.#reserve,
      within,
    })
  }

  /** Removes it, as soon as no tunnel's directory lies in it. */
  release(): void {
    this.#directory.remove()
  }

  async #furnish(scope: Scope, clock: Clock): Promise<void> {
    this.#reserve.open()
    writeBorn(this.#directory)
    await this.#socket.open(this.#directory)
    this.#touch = new Touch(scope, clock, () => this.#directory.paths())
  }

  #gone(): void {
    this.#touch?.stop()
    this.#reserve.close()
    void this.#socket.close()
  }
}
