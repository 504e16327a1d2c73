import { performance } from 'node:perf_hooks'

interface Parcel {
  readonly due: number
  readonly size: number
  readonly deliver: () => void
}

/** One direction of a wire: what it carries arrives in order, `delayMillis` late, and not at all while it is held. */
export class Lane {
  delayMillis = 0
  /** Bytes under way. */
  size = 0
  readonly #parcels: Parcel[] = []
  #timer: NodeJS.Timeout | undefined
  #isHeld = false

  carry(size: number, deliver: () => void): void {
    if (!this.#isHeld && this.delayMillis === 0 && this.#parcels.length === 0) {
      deliver()
      return
    }
    this.size += size
    this.#parcels.push({ due: performance.now() + this.delayMillis, size, deliver })
    this.#run()
  }

  hold(): void {
    this.#isHeld = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  release(): void {
    this.#isHeld = false
    this.#run()
  }

  /** Forgets everything under way, and carries nothing more. */
  clear(): void {
    this.hold()
    this.#parcels.length = 0
    this.size = 0
  }

  #run(): void {
    for (let [next] = this.#parcels; next !== undefined && !this.#isHeld; [next] = this.#parcels) {
      const waitMillis = next.due - performance.now()
      if (waitMillis > 0) {
        this.#runIn(waitMillis)
        return
      }
      this.#parcels.shift()
      this.size -= next.size
      next.deliver()
    }
  }

  #runIn(millis: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#run()
    }, millis)
  }
}
