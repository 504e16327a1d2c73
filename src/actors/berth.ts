import type { Remote } from '../api/forward.ts'
import { ChannelSocket } from '../channels/socket.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import { remoteName } from '../remote.ts'
import type { ResolvedTarget } from '../target.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { PoolLife } from './pool-life.ts'
import type { Tunnel } from './tunnel.ts'

/** A socket that goes from request to request: a lease covers it while one is on it, and between them its tunnel keeps it parked. */
export class PooledBerth {
  readonly socket: ChannelSocket
  readonly #life: PoolLife
  readonly #target: ResolvedTarget
  readonly #options: ResolvedAcquireOptions
  #lease: LeaseRecord | undefined
  #tunnel: Tunnel | undefined

  constructor(life: PoolLife, target: ResolvedTarget, options: ResolvedAcquireOptions, to: Remote) {
    this.#life = life
    this.#target = target
    this.#options = options
    this.socket = new ChannelSocket({
      remoteAddress: remoteName(to),
      open: async (signal) => {
        if (this.#lease === undefined) this.#cover(await this.#acquire(signal))
        // Given up in the very turn in which it was granted.
        if (this.socket.destroyed) this.#end()
        signal.throwIfAborted()
        const { up, parts } = this.#tunnel as Tunnel
        return await up.openChannel(to, { signal, timeoutMillis: parts.options.channelTimeoutMillis })
      },
    })
    this.socket.once('close', () => this.#end())
  }

  async #acquire(signal: AbortSignal): Promise<LeaseRecord> {
    this.#life.assertOpen()
    const given = this.#life.registry.acquire(this.#target, { ...this.#options, signal })
    return given instanceof Promise ? await this.#life.parts.hold.during(given) : given
  }

  park(): boolean {
    const [lease, tunnel] = [this.#lease, this.#tunnel]
    if (lease === undefined || tunnel === undefined || this.socket.destroyed) return false
    this.socket.keepInner()
    lease.disown(this.socket)
    this.#lease = undefined
    const isKept = tunnel.isOpen
    if (isKept) {
      tunnel.leases.parked.add(this.socket)
      this.socket.on('data', this.#unasked)
    } else this.socket.destroy()
    lease.release(undefined)
    return isKept
  }

  take(): boolean {
    const tunnel = this.#tunnel
    if (tunnel === undefined || this.socket.destroyed) return false
    if (this.#lease !== undefined) return true
    const lease = this.#life.registry.find(this.#target)?.lending.lendNow(tunnel, this.#options)
    if (lease === undefined) return false
    tunnel.leases.parked.delete(this.socket)
    this.socket.off('data', this.#unasked)
    this.#cover(lease)
    this.socket.replaceInner()
    return true
  }

  /** Nobody has asked: what is said between two requests would be taken for the next one's answer. */
  readonly #unasked = (): void => void this.socket.destroy()

  #cover(lease: LeaseRecord): void {
    this.#lease = lease
    this.#tunnel = lease.tunnel
    lease.adopt(this.socket)
  }

  #end(): void {
    this.#tunnel?.leases.parked.delete(this.socket)
    this.#lease?.disown(this.socket)
    this.#lease?.release(undefined)
    this.#lease = undefined
  }
}
