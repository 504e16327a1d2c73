/** Who wants to run: one that was slow or failed last time, or was never yet seen well, is a suspect. */
export interface Runner {
  readonly isSuspect: boolean
  readonly run: () => void
}

/** How many may run at once. Suspects take half of it at most, so that however many are dead, those that are well run when they are due. */
export class Lanes {
  readonly #max: number
  readonly #maxSuspects: number
  readonly #well = new Set<Runner>()
  readonly #suspects = new Set<Runner>()
  readonly #running = new Map<Runner, boolean>()
  #suspectsRunning = 0

  constructor(max: number) {
    this.#max = max
    this.#maxSuspects = Math.max(1, Math.floor(max / 2))
  }

  enter(runner: Runner): void {
    if (runner.isSuspect) this.#suspects.add(runner)
    else this.#well.add(runner)
    this.#go()
  }

  /** It has run, or does not want to any more. */
  leave(runner: Runner): void {
    this.#well.delete(runner)
    this.#suspects.delete(runner)
    const wasSuspect = this.#running.get(runner)
    if (wasSuspect === undefined) return
    this.#running.delete(runner)
    if (wasSuspect) this.#suspectsRunning -= 1
    this.#go()
  }

  #go(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.run()
  }

  #next(): Runner | undefined {
    if (this.#running.size >= this.#max) return undefined
    const [runner] = this.#well.size > 0 ? this.#well : this.#suspects
    if (runner === undefined) return undefined
    const isSuspect = this.#well.size === 0
    if (isSuspect && this.#suspectsRunning >= this.#maxSuspects) return undefined
    this.#well.delete(runner)
    this.#suspects.delete(runner)
    this.#running.set(runner, isSuspect)
    if (isSuspect) this.#suspectsRunning += 1
    return runner
  }
}
