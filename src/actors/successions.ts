import type { TunnelError } from '../errors.ts'

interface Succession {
  readonly old: number
  readonly isForced: boolean
  readonly resolve: () => void
  readonly reject: (error: TunnelError) => void
}

/** Who waits for a generation to be replaced. All who retire one join the same succession. */
export class Successions {
  readonly #waiting = new Set<Succession>()

  /** Resolves when generation `old` is final; rejects with the successor's error when the old one goes on serving instead. */
  join(old: number, isForced: boolean): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.add({ old, isForced, resolve, reject }))
  }

  /** A generation is final. */
  ended(generation: number): void {
    for (const succession of this.#waiting) {
      if (succession.old !== generation) continue
      this.#waiting.delete(succession)
      succession.resolve()
    }
  }

  /** The successor did not open; with force, or because its host key is another, the old one goes all the same. */
  failed(error: TunnelError): void {
    if (error.code === 'ERR_HOST_KEY') return
    for (const succession of this.#waiting) {
      if (succession.isForced) continue
      this.#waiting.delete(succession)
      succession.reject(error)
    }
  }

  /** The destination ends. */
  fail(error: TunnelError): void {
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting.clear()
  }
}
