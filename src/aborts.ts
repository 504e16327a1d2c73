/** Those who wait on one signal, behind the one listener it has of us: Node warns of a leak at the eleventh. */
class Audience {
  readonly #signal: AbortSignal
  readonly #waiting = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#tell, { once: true })
  }

  add(told: () => void): () => void {
    this.#waiting.add(told)
    return () => {
      if (!this.#waiting.delete(told) || this.#waiting.size > 0 || audiences.get(this.#signal) !== this) return
      audiences.delete(this.#signal)
      this.#signal.removeEventListener('abort', this.#tell)
    }
  }

  readonly #tell = (): void => {
    audiences.delete(this.#signal)
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const tell of waiting) tell()
  }
}

const audiences = new WeakMap<AbortSignal, Audience>()

/**
 * Calls back once when the signal aborts; the result takes that back. However many wait on one signal, it has one listener of ours.
 * For a signal that has aborted already, ask `signal.aborted` first: nobody is called.
 */
export function onAbort(signal: AbortSignal | undefined, told: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {}
  let audience = audiences.get(signal)
  if (audience === undefined) {
    audience = new Audience(signal)
    audiences.set(signal, audience)
  }
  return audience.add(told)
}
