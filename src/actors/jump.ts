import type { Duplex } from 'node:stream'
import { onAbort } from '../aborts.ts'
import { ChannelSocket } from '../channels/socket.ts'
import { TunnelError } from '../errors.ts'
import { hopName } from '../target/jumps.ts'
import type { ResolvedTarget } from '../target.ts'
import type { Connection, Hop } from '../transport/transport.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Tunnel } from './tunnel.ts'

/** For a jump to answer whether it is still there. */
const VERDICT_MILLIS = 1_000

/** What befell a jump, as those behind it are told: it names the hop that failed, the outermost if one failed because of another. */
export function hopError(cause: TunnelError, jump: ResolvedTarget, behind: string): TunnelError {
  const { code, phase, retryAt } = cause
  const hop = cause.hop ?? hopName(jump)
  let first = cause
  while (first.hop !== undefined && TunnelError.is(first.cause)) first = first.cause
  return new TunnelError(code, `${behind}: its jump ${hop} failed: ${first.message}`, {
    // These only stand for what came before.
    cause: code === 'ERR_CIRCUIT_OPEN' || code === 'ERR_ACQUIRE_TIMEOUT' ? cause.cause : cause,
    phase,
    hop,
    retryAt,
  })
}

/** What a tunnel is told of its jump. */
export interface JumpWatch {
  /** It is lost, and all that goes through it; the error names the hop. Told at once, before anything that follows from it. */
  readonly lost: (error: TunnelError) => void
  /** It is not lent any more: whoever wants to stay has to move over. */
  readonly draining: () => void
}

/** One tunnel's lease on its jump, and the way through it. */
export class Jump implements Hop {
  readonly name: string
  readonly #lease: LeaseRecord
  readonly #behind: string
  readonly #streams = new Set<ChannelSocket>()
  readonly #takeBack: () => void
  isDraining = false
  #isReleased = false

  /** Owns the lease from here on; `watch` hears at once of a loss that has been. */
  constructor(lease: LeaseRecord, behind: string, { lost, draining }: JumpWatch) {
    this.#lease = lease
    this.#behind = behind
    this.name = hopName(lease.tunnel.target)
    const lose = () => {
      const error = this.#explain(lease.refusal)
      for (const stream of this.#streams) stream.destroy(error)
      lost(error)
    }
    lease.onDraining = () => {
      this.isDraining = true
      draining()
    }
    this.#takeBack = onAbort(lease.ending, lose)
    if (lease.refusal !== undefined) lose()
  }

  /** The tunnel that it is. */
  get tunnel(): Tunnel {
    return this.#lease.tunnel
  }

  get controlPath(): string | undefined {
    return this.#up.controlPath
  }

  async open(to: { host: string; port: number }, signal: AbortSignal): Promise<Duplex> {
    const up = this.#up
    const stream: ChannelSocket = new ChannelSocket({
      // What the kernel would say is known to the hop alone.
      remoteAddress: undefined,
      open: (ending) => up.openChannel(to, { signal: ending, timeoutMillis: Number.POSITIVE_INFINITY, isCarrier: true }),
    })
    this.#streams.add(stream)
    stream.once('close', () => this.#streams.delete(stream))
    const takeBack = onAbort(signal, () => stream.destroy(signal.reason))
    try {
      return await stream.whenOpen
    } finally {
      takeBack()
    }
  }

  async verdict(): Promise<TunnelError | undefined> {
    try {
      await this.#up.probe({ signal: undefined, timeoutMillis: VERDICT_MILLIS })
    } catch {
      // Lost, or silent: the lease knows.
    }
    return this.#isReleased || this.#lease.refusal === undefined ? undefined : this.#explain(this.#lease.refusal)
  }

  /** Gives the lease back: it is no longer needed, or never was. Idempotent. */
  release(): void {
    this.#isReleased = true
    this.#takeBack()
    this.#lease.onDraining = undefined
    this.#lease.release(undefined)
  }

  get #up(): Connection {
    try {
      return this.#lease.tunnel.up
    } catch (error) {
      throw this.#explain(error)
    }
  }

  #explain(error: unknown): TunnelError {
    const cause = TunnelError.is(error) ? error : new TunnelError('ERR_LOST', 'it was lost', { cause: error })
    return hopError(cause, this.#lease.tunnel.target, this.#behind)
  }
}
