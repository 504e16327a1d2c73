import type { TunnelPool } from '../../api/pool.ts'
import type { PoolFacts, PoolReport } from '../../api/report.ts'
import type { ShownLease } from './wire.ts'

/** Who holds leases, since when, by generation. Told by the facts; what was out before is asked for once. */
export class Leases {
  readonly #byGeneration = new Map<number, Map<string, ShownLease>>()
  readonly #ends: Array<() => void>

  constructor(pool: TunnelPool, present: PoolReport['leases'], changed: (destination: string) => void) {
    for (const { since, id, generation, label } of present) this.#take({ id, generation, label, since: since.getTime() })
    const taken = ({ destination, generation, lease: id, label }: PoolFacts['lease.acquired']) => {
      this.#take({ id, generation, label, since: Date.now() })
      changed(destination)
    }
    const released = ({ destination, generation, lease }: PoolFacts['lease.released']) => {
      const leases = this.#byGeneration.get(generation)
      leases?.delete(lease)
      if (leases?.size === 0) this.#byGeneration.delete(generation)
      changed(destination)
    }
    pool.on('lease.acquired', taken).on('lease.released', released)
    this.#ends = [() => pool.off('lease.acquired', taken), () => pool.off('lease.released', released)]
  }

  count(generation: number): number {
    return this.#byGeneration.get(generation)?.size ?? 0
  }

  end(): void {
    for (const end of this.#ends) end()
  }

  #take(lease: ShownLease): void {
    const leases = this.#byGeneration.get(lease.generation) ?? new Map<string, ShownLease>()
    leases.set(lease.id, lease)
    this.#byGeneration.set(lease.generation, leases)
  }
}
