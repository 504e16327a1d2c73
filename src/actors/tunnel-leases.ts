import type { ChannelSocket } from '../channels/socket.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Tunnel } from './tunnel.ts'

/** So many takes right after a return are a habit. */
const QUICK_TAKES = 8
const LINGER_MILLIS = 10

/** The leases that are out on one tunnel. Their count is kept here; the machine hears the edges. */
export class TunnelLeases {
  readonly #tunnel: Tunnel
  readonly #out = new Set<LeaseRecord>()
  /** Sockets between two requests: no lease is on them, and they do not keep the tunnel from being closed. */
  readonly parked = new Set<ChannelSocket>()
  /** The machine has not heard yet that the last one is back. */
  #isReturning = false
  #lingering: unknown
  #lastReturned = ''
  #returnedAt = Number.NEGATIVE_INFINITY
  #quickTakes = 0

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
    if (this.#out.size === 0 && !this.#isReturning) {
      this.#quickTakes = lease.takenAt - this.#returnedAt < LINGER_MILLIS ? this.#quickTakes + 1 : 0
      this.#tunnel.tell({ type: 'lease.taken', generation: this.#tunnel.generation, lease: lease.id })
    }
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
    if (this.#out.size === 0) {
      this.#lastReturned = lease.id
      this.#returnLast(clock.now())
    }
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
   * The machine hears of 1→0 once the turn of the event loop is over and nobody has taken a lease again; when takes follow returns quickly, once
   * nobody has for a while. A server that makes check after check would pay for two transitions with each, and they are most of what that costs.
   */
  #returnLast(now: number): void {
    this.#returnedAt = now
    if (this.#isReturning) return
    this.#isReturning = true
    const { clock, room } = this.#tunnel.parts
    if (this.#quickTakes < QUICK_TAKES || room.waiting > 0 || !this.#tunnel.isOpen) setImmediate(this.#tellReturned)
    else this.#lingering = clock.setTimeout(this.#linger, LINGER_MILLIS)
  }

  readonly #linger = (): void => {
    const { clock } = this.#tunnel.parts
    this.#lingering = undefined
    if (this.#out.size > 0 || clock.now() - this.#returnedAt >= LINGER_MILLIS) this.#tellReturned()
    else this.#lingering = clock.setTimeout(this.#linger, LINGER_MILLIS)
  }

  readonly #tellReturned = (): void => {
    this.#isReturning = false
    if (this.#out.size > 0) return
    const { generation, parts } = this.#tunnel
    this.#tunnel.tell({ type: 'lease.returned', generation, lease: this.#lastReturned })
    if (!this.#tunnel.isOpen) return
    parts.idle.add(this.#tunnel)
    if (parts.room.waiting > 0) parts.room.makeRoom()
  }

  /** The tunnel is not lent any more: what is parked goes first; those whose lease is out may look for another. */
  tellDraining(): void {
    for (const socket of [...this.parked]) socket.destroy()
    for (const lease of this.#out) lease.onDraining?.()
    // It drains until it has heard that all are back.
    if (this.#lingering === undefined) return
    this.#tunnel.parts.clock.clearTimeout(this.#lingering)
    this.#lingering = undefined
    setImmediate(this.#tellReturned)
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
