import type { PoolStats } from '../api/report.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Running counts, so that `stats` costs the same with 10 and with 10,000 destinations. `opened - closed` is what is open or draining now. */
export class Tally {
  readonly destinations: Mutable<PoolStats['destinations']> = {
    dormant: 0,
    dialing: 0,
    serving: 0,
    resting: 0,
    barred: 0,
    leaving: 0,
  }
  readonly tunnels: Mutable<PoolStats['tunnels']> = { opening: 0, open: 0, draining: 0 }
  leases = 0
  waiting = 0
  opened = 0
  closed = 0
  failed = 0
  lost = 0
  #settling: Array<() => void> = []

  /** Moves one destination from state to state; a state that is not counted (`left`, none) is passed over. */
  moveDestination(from: string | undefined, to: string | undefined): void {
    move(this.destinations, from, to)
    this.#checkSettled()
  }

  moveTunnel(from: string | undefined, to: string | undefined): void {
    move(this.tunnels, from, to)
    this.#checkSettled()
  }

  /** Resolves when nothing is opening or draining; whoever awaits it bounds it. */
  settled(): Promise<void> {
    return this.#isSettled ? Promise.resolve() : new Promise((resolve) => this.#settling.push(resolve))
  }

  get #isSettled(): boolean {
    return this.tunnels.opening + this.tunnels.draining + this.destinations.dialing === 0
  }

  #checkSettled(): void {
    if (this.#settling.length === 0 || !this.#isSettled) return
    const settling = this.#settling
    this.#settling = []
    for (const resolve of settling) resolve()
  }

  snapshot(): PoolStats {
    const { leases, waiting, opened, closed, failed, lost } = this
    return { destinations: { ...this.destinations }, tunnels: { ...this.tunnels }, leases, waiting, opened, closed, failed, lost }
  }
}

function move(counts: Record<string, number>, from: string | undefined, to: string | undefined): void {
  if (from !== undefined && from in counts) counts[from] = (counts[from] ?? 0) - 1
  if (to !== undefined && to in counts) counts[to] = (counts[to] ?? 0) + 1
}
