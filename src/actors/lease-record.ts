import type { Remote } from '../api/forward.ts'
import type { Claim } from '../channels/forwards.ts'
import { ChannelSocket } from '../channels/socket.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedAcquireOptions } from '../options/acquire.ts'
import { remoteName } from '../remote.ts'
import type { Tunnel } from './tunnel.ts'

/** What the pool keeps of one lease. The user's Lease points here and never the other way round, so that a forgotten one can be collected. */
export class LeaseRecord {
  readonly id: string
  readonly label: string | undefined
  /** Held by a target on its jump, and not by a user. */
  readonly isJump: boolean
  readonly tunnel: Tunnel
  readonly since: Date
  readonly stack: string | undefined
  readonly takenAt: number
  readonly claims = new Set<Claim>()
  readonly #sockets = new Set<ChannelSocket>()
  #controller: AbortController | undefined
  #ending: AbortController | undefined
  #loss: TunnelError | undefined
  isReleased = false
  /** Hears that the tunnel is not lent any more, while this lease of it is out. */
  onDraining: (() => void) | undefined

  constructor(tunnel: Tunnel, id: string, { label, isJump }: ResolvedAcquireOptions, stack: string | undefined) {
    this.tunnel = tunnel
    this.id = id
    this.label = label
    this.isJump = isJump
    this.stack = stack
    this.since = tunnel.parts.clock.date()
    this.takenAt = tunnel.parts.clock.now()
  }

  /** Aborts with a TunnelError when the tunnel under the lease is lost or destroyed. Made when first asked for: most leases never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#loss !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#loss)
    return this.#controller.signal
  }

  /** Aborts when the lease ends in whatever way: what was begun with it ends with it. */
  get ending(): AbortSignal {
    this.#ending ??= new AbortController()
    return this.#ending.signal
  }

  /** Why nothing more can be done with it; `undefined` while something can. */
  get refusal(): TunnelError | undefined {
    if (this.#loss !== undefined) return this.#loss
    return this.isReleased ? new TunnelError('ERR_ABORTED', `lease ${this.id} was released`) : undefined
  }

  /** A stream through the tunnel that ends with the lease. */
  openSocket(to: Remote, timeoutMillis: number): ChannelSocket {
    const refusal = this.refusal
    const socket = new ChannelSocket({
      remoteAddress: remoteName(to),
      open: (signal) =>
        refusal === undefined ? this.tunnel.up.openChannel(to, { signal, timeoutMillis }) : Promise.reject(refusal),
    })
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }

  /** A socket that outlives leases ends with this one from now on. */
  adopt(socket: ChannelSocket): void {
    if (this.#loss === undefined) this.#sockets.add(socket)
    else socket.destroy(this.#loss)
  }

  /** A socket goes on without this lease. */
  disown(socket: ChannelSocket): void {
    this.#sockets.delete(socket)
  }

  /** Gives the lease back; the fault, if any, keeps this generation from being lent again. Idempotent. */
  release(fault: Error | undefined, isAbandoned = false): void {
    if (this.isReleased) return
    this.isReleased = true
    // An error costs 30 µs for its stack, and most leases end with nothing left on them.
    if (this.#sockets.size > 0 || this.#ending !== undefined || this.claims.size > 0)
      this.#end(new TunnelError('ERR_ABORTED', `lease ${this.id} was released`))
    this.tunnel.leases.giveBack(this, fault, isAbandoned)
  }

  /** The tunnel ends under it. */
  cut(error: TunnelError): void {
    this.#loss ??= error
    this.isReleased = true
    this.#end(error)
    const controller = this.#controller
    // The signal's listeners are the user's: not inside a transition.
    if (controller !== undefined) queueMicrotask(() => controller.abort(error))
  }

  #end(error: TunnelError): void {
    for (const socket of [...this.#sockets]) socket.destroy(error)
    this.#ending?.abort(error)
    for (const claim of this.claims) void claim.give()
    this.claims.clear()
  }
}
