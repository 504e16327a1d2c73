import type { Clock } from '../../clock.ts'
import { TunnelError } from '../../errors.ts'
import { load } from '../load.ts'
import type { Scope } from '../scope.ts'
import type { OwnedDirectory } from './directory.ts'
import { diskError } from './disk-error.ts'
import type { Answer } from './owner-socket.ts'
import { checkPlaceLength } from './path-length.ts'
import { findPlace } from './place.ts'
import { PoolDirectory } from './pool-directory.ts'

/** Of the names that `claim` makes up: half a million fit. */
const NAME_BYTES = 4
const TRIES = 3

/** A pool's directories on disk. Nothing exists before the first tunnel asks for one. */
export class RuntimeDirectory {
  readonly #base: string | undefined
  readonly #scope: Scope
  readonly #clock: Clock
  readonly #answer: Answer | undefined
  /** Each shared by all who ask meanwhile. */
  #place: Promise<string> | undefined
  #making: Promise<PoolDirectory> | undefined
  #path: string | undefined

  /** `base`: the option runtimeDirectory. `scope`: the pool's own. `answer`: what its owner socket says. */
  constructor({
    base,
    scope,
    clock,
    answer,
  }: {
    base: string | undefined
    scope: Scope
    clock: Clock
    answer?: Answer | undefined
  }) {
    this.#answer = answer
    this.#base = base
    this.#scope = scope
    this.#clock = clock
  }

  /** The pool's directory, once there is one. */
  get path(): string | undefined {
    return this.#path
  }

  /**
   * Makes a directory for one opening of a tunnel, owned by its scope. `nameBytes`: the longest socket name that must fit, with
   * what others append to it while they bind. Rejects with `ERR_RUNTIME_DIRECTORY`, `ERR_PATH_TOO_LONG`, `ERR_LOCAL_LIMIT`,
   * `ERR_POOL_CLOSED`, or `ERR_ABORTED` when the scope is already being released.
   */
  async tunnelDirectory(scope: Scope, label: string, nameBytes = NAME_BYTES): Promise<OwnedDirectory> {
    try {
      for (let tries = TRIES; ; tries -= 1) {
        const pool = await this.#pool(nameBytes)
        if (scope.isReleasing) throw new TunnelError('ERR_ABORTED', 'the tunnel was closed before its directory was made')
        try {
          return pool.tunnelDirectory(scope, label)
        } catch (error) {
          if (tries === 1 || pool.isWhole) throw error
        }
      }
    } catch (error) {
      throw this.#scope.isReleasing ? closed() : diskError(error, 'cannot make a directory for a tunnel')
    }
  }

  /**
   * The pool's directory, made now if there is none, or no longer: cleaners of temporary directories take what they think is old.
   */
  async #pool(nameBytes: number): Promise<PoolDirectory> {
    for (let tries = TRIES; tries > 0; tries -= 1) {
      this.#place ??= findPlace(this.#base, (place) => checkPlaceLength(place, NAME_BYTES))
      const place = await this.#unlessFailed(this.#place)
      checkPlaceLength(place, nameBytes)
      this.#making ??= this.#make(place)
      const making = this.#making
      const pool = await this.#unlessFailed(making)
      if (this.#scope.isReleasing) throw closed()
      if (pool.isWhole) return pool
      pool.release()
      if (this.#making === making) this.#forget()
    }
    throw new TunnelError(
      'ERR_RUNTIME_DIRECTORY',
      `something removes ${this.#path} as soon as it is made; set runtimeDirectory to another place`,
    )
  }

  async #make(place: string): Promise<PoolDirectory> {
    const { default: tmp } = await load(() => import('tmp'))
    if (this.#scope.isReleasing) throw closed()
    const pool = await PoolDirectory.make(place, this.#scope, this.#clock, tmp.dirSync, this.#answer)
    this.#path = pool.path
    return pool
  }

  /** A failure is for those who wait for it; the next one to ask tries again. */
  async #unlessFailed<T>(shared: Promise<T>): Promise<T> {
    try {
      return await shared
    } catch (error) {
      if (shared === this.#place || shared === this.#making) this.#forget()
      throw error
    }
  }

  #forget(): void {
    this.#place = undefined
    this.#making = undefined
  }
}

function closed(): TunnelError {
  return new TunnelError('ERR_POOL_CLOSED', 'the pool is closed')
}
