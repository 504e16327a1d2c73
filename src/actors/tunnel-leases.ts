import type { ChannelSocket } from '../channels/socket.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Tunnel } from './tunnel.ts'

/** The leases that are out on one tunnel. Their count is kept here; the machine hears the edges. */
export class TunnelLeases {
  readonly #tunnel: Tunnel
  readonly #out = new Set<LeaseRecord>()
  /** Sockets between two requests: no lease is on them, and they do not keep the tunnel from being closed. */
  readonly parked = new Set<ChannelSocket>()
  #returning: NodeJS.Immediate | undefined

  constructor(tunnel: Tunnel) {
    this.#tunnel = tunnel
  }

  get size(): number {
    return this.#out.size
  }

  [Symbol.iterator](): IterableIterator<LeaseRecord> {
    return this.#out.values()
  }

  /** Counts a lease, if the machine does. */
  grant(lease: LeaseRecord): boolean {
    if (!this.#tunnel.isOpen) return false
    if (this.#out.size === 0 && this.#returning === undefined)
      this.#tunnel.tell({ type: 'lease.taken', generation: this.#tunnel.generation, lease: lease.id })
    if (this.#tunnel.snapshot()?.context.isLeased !== true) return false
    this.#out.add(lease)
    this.#tunnel.parts.idle.delete(this.#tunnel)
    if (lease.isJump) return true
    this.#tunnel.parts.tally.leases += 1
    this.#tunnel.parts.hold.take()
    return true
  }

  giveBack(lease: LeaseRecord, fault: Error | undefined, isAbandoned: boolean): void {
    if (!this.#out.delete(lease)) return
    const { facts, tally, hold, clock, room } = this.#tunnel.parts
    const named = { generation: this.#tunnel.generation, lease: lease.id }
    if (fault !== undefined) this.#tunnel.tell({ type: 'lease.faulted', ...named })
    if (this.#out.size === 0) this.#returnLast(named)
    // Those that are left may be held by dials that wait for room.
    else if (room.waiting > 0) room.makeRoom()
    if (lease.isJump) return
    tally.leases -= 1
    hold.give()
    const fact = { destination: this.#tunnel.target.id, ...named }
    if (isAbandoned) facts.publish('lease.abandoned', fact)
    facts.publish('lease.released', { ...fact, heldMillis: clock.now() - lease.takenAt, fault })
  }

  /**
   * The machine hears of 1→0 once the turn of the event loop is over and nobody has taken a lease again: a server that checks host after host
   * takes and returns many in one turn, and two transitions each would be most of what that costs.
   */
  #returnLast(named: { generation: number; lease: string }): void {
    this.#returning ??= setImmediate(() => {
      this.#returning = undefined
      if (this.#out.size > 0) return
      this.#tunnel.tell({ type: 'lease.returned', ...named })
      if (!this.#tunnel.isOpen) return
      this.#tunnel.parts.idle.add(this.#tunnel)
      if (this.#tunnel.parts.room.waiting > 0) this.#tunnel.parts.room.makeRoom()
    })
  }

  /** The tunnel is not lent any more: what is parked goes first; those whose lease is out may look for another. */
  tellDraining(): void {
    for (const socket of [...this.parked]) socket.destroy()
    for (const lease of this.#out) lease.onDraining?.()
  }

  /** The leases that are still out end with the tunnel's reason. */
  cut(code: string | undefined, reason: string): void {
    if (this.#out.size === 0) return
    const error = this.#tunnel.failure(code, `the tunnel was closed under the lease: ${reason}`)
    this.#tunnel.record.leasesCut += this.#out.size
    for (const lease of [...this.#out]) {
      lease.cut(error)
      this.giveBack(lease, error, false)
    }
  }
}
