import type { TcpAddress, UnixAddress } from '../../api/forward.ts'
import type { Claim } from '../../channels/forwards.ts'
import type { ResolvedForward } from '../../options/forward.ts'
import { unlessAborted } from '../../wait.ts'
import type { LeaseRecord } from '../lease-record.ts'

type Spec = Extract<ResolvedForward, { kind: 'reverse' }>
interface Held {
  readonly lease: LeaseRecord
  readonly claim: Claim
}

/** Where the server listens for a standing endpoint: on one tunnel at a time, always at the same address. */
export class Reverse {
  #spec: Spec
  #held: Held | undefined

  constructor(spec: Spec) {
    this.#spec = spec
  }

  /** Undefined before it has listened once. */
  get address(): TcpAddress | UnixAddress | undefined {
    return 'socketPath' in this.#spec.remote || this.#spec.remote.port !== 0 ? this.#spec.remote : undefined
  }

  /** Whether a lease is the one of the tunnel on which the server listens. */
  holds(lease: LeaseRecord): boolean {
    return this.#held?.lease === lease
  }

  /** Has the server listen on a tunnel, after it has stopped on the one before. Owns the lease once it resolves. */
  async listen(lease: LeaseRecord, signal: AbortSignal): Promise<void> {
    await this.leave()
    const claim = await unlessAborted(lease.tunnel.forwards.claim(this.#spec), signal, (late) => void late.give())
    if (signal.aborted) {
      await claim.give()
      throw signal.reason
    }
    const { address } = claim
    // Any free port, the first time; the same from then on.
    if ('port' in address) this.#spec = { ...this.#spec, remote: { ...this.#spec.remote, port: address.port } as Spec['remote'] }
    this.#held = { lease, claim }
  }

  /** The server stops listening; what came in goes on, and its tunnel waits for that. */
  async leave(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (held === undefined) return
    await held.claim.give()
    void held.claim.idle().then(() => held.lease.release(undefined))
  }
}
