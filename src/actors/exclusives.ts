import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import type { Destination } from './destination.ts'
import { LeaseRecord } from './lease-record.ts'
import { Waiter } from './waiter.ts'

/** Tunnels of one lease each: dialled for it, never current, closed with it. They share the destination's back-off and bar. */
export class Exclusives {
  readonly #destination: Destination
  readonly #waiters = new Map<number, Waiter>()
  readonly #queued = new Set<{ waiter: Waiter; controller: AbortController }>()

  constructor(destination: Destination) {
    this.#destination = destination
  }

  acquire(options: ResolvedAcquireOptions): Promise<LeaseRecord> {
    const refusal = this.#destination.lending.refusal(options)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise<LeaseRecord>((resolve, reject) => {
      const controller = new AbortController()
      let generation: number | undefined
      const settled = () => {
        this.#queued.delete(queued)
        controller.abort(new TunnelError('ERR_ABORTED', 'nobody waits for this tunnel any more'))
        if (generation === undefined || !this.#waiters.delete(generation)) return
        const tunnel = this.#destination.tunnels.get(generation)
        if (tunnel?.leases.size === 0) tunnel.tell({ type: 'tunnel.destroy', reason: 'nobody waits for it' })
      }
      const waiter = new Waiter(this.#destination.parts, options, { resolve, reject }, settled, () =>
        this.#destination.lending.expired(options),
      )
      const queued = { waiter, controller }
      this.#queued.add(queued)
      this.#dial(waiter, controller.signal, (made) => {
        generation = made
        this.#queued.delete(queued)
      })
    })
  }

  #dial(waiter: Waiter, signal: AbortSignal, made: (generation: number) => void): void {
    const destination = this.#destination
    destination.admit(signal, (destination.known?.failures ?? 0) > 0).then(
      (tunnel) => {
        made(tunnel.generation)
        this.#waiters.set(tunnel.generation, waiter)
        destination.tell({ type: 'exclusive.admitted', generation: tunnel.generation })
        if (tunnel.isAttached) return
        this.#waiters.delete(tunnel.generation)
        destination.farewell(tunnel.generation)
        waiter.reject(new TunnelError('ERR_POOL_CLOSED', 'the destination ends', { phase: 'queued' }))
      },
      (error) => waiter.reject(error),
    )
  }

  /** It is open: lent as soon as its own transition is done. */
  grant(generation: number): void {
    queueMicrotask(() => {
      const waiter = this.#waiters.get(generation)
      const tunnel = this.#destination.tunnels.get(generation)
      if (waiter === undefined || tunnel === undefined) return
      this.#waiters.delete(generation)
      const { parts, target } = this.#destination
      const { label } = waiter.options
      const lease = new LeaseRecord(
        tunnel,
        parts.nextLease(),
        label,
        parts.options.traceLeases ? new Error('acquired').stack : undefined,
      )
      if (!tunnel.leases.grant(lease)) return waiter.reject(tunnel.failure('ERR_LOST', 'it was lost before it could be lent'))
      const waitMillis = lease.takenAt - waiter.askedAt
      parts.facts.publish('lease.acquired', { destination: target.id, generation, lease: lease.id, label, waitMillis })
      waiter.resolve(lease)
    })
  }

  /** It did not open, or its remains will not die. */
  fail(generation: number): void {
    const waiter = this.#waiters.get(generation)
    if (waiter === undefined) return
    this.#waiters.delete(generation)
    const error = this.#destination.tunnels.get(generation)?.failure(undefined, 'the dial failed')
    if (error !== undefined) this.#destination.resting.cause = error
    waiter.reject(error)
  }

  /** The destination ends. */
  end(error: TunnelError): void {
    for (const { waiter } of [...this.#queued]) waiter.reject(error)
    for (const waiter of [...this.#waiters.values()]) waiter.reject(error)
  }
}
