import type { OwnedDirectory } from './directory.ts'

/** A directory made when it is first asked for, shared by all who ask; again when that has failed, or a cleaner has taken it meanwhile. */
export class LastingDirectory {
  readonly #make: () => Promise<OwnedDirectory>
  #making: Promise<OwnedDirectory> | undefined

  constructor(make: () => Promise<OwnedDirectory>) {
    this.#make = make
  }

  /** The one that is there; rejects with why none can be made. */
  async get(): Promise<OwnedDirectory> {
    this.#making ??= this.#make()
    const making = this.#making
    try {
      const directory = await making
      if (directory.isThere) return directory
      directory.remove()
    } catch (error) {
      this.#forget(making)
      throw error
    }
    this.#forget(making)
    return this.get()
  }

  #forget(making: Promise<OwnedDirectory>): void {
    if (this.#making === making) this.#making = undefined
  }
}
