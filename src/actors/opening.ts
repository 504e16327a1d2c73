import { TunnelError } from '../errors.ts'
import type { DialPlace } from '../limits/dial-limits.ts'
import type { Connection, Hop, Phase } from '../transport/transport.ts'
import type { Tunnel } from './tunnel.ts'

/** What a dial failed by, in our own words. */
export const asTunnelError = (error: unknown): TunnelError =>
  TunnelError.is(error)
    ? error
    : new TunnelError('ERR_LOST', error instanceof Error ? error.message : String(error), { cause: error })

/** The dial of one tunnel: which phase it is in, and how long each took. */
export class Opening {
  readonly #tunnel: Tunnel
  readonly #place: DialPlace
  phase: Phase | 'queued' = 'queued'
  #phaseSince: number
  #began: number

  constructor(tunnel: Tunnel, place: DialPlace) {
    this.#tunnel = tunnel
    this.#place = place
    this.#began = tunnel.parts.clock.now()
    this.#phaseSince = this.#began
  }

  /** Its machine has started, and with it the time that all phases have together: the making of a directory is one of them. */
  begin(): void {
    this.#began = this.#tunnel.parts.clock.now()
  }

  /** Opens the connection; what it makes is in the tunnel's scope, also when it rejects. */
  async dial(signal: AbortSignal, jump: Hop | undefined): Promise<Connection> {
    const { parts, target, scope } = this.#tunnel
    const connection = await parts.transports[target.transport].dial({
      target,
      scope,
      jump,
      directory: () => this.#tunnel.makeDirectory(),
      signal,
      clock: parts.clock,
      trust: parts.trust,
      buffered: parts.buffered,
      holdSession: parts.options.holdSession,
      channelTimeoutMillis: parts.options.channelTimeoutMillis,
      enter: (phase) => this.#enter(phase),
      admit: () => this.#place.admit(signal),
    })
    signal.throwIfAborted()
    this.#enter('open')
    return connection
  }

  /** Why a dial is aborted: it took too long, or what its destination ends with. */
  abortReason(endError: TunnelError | undefined): TunnelError {
    const { parts, target } = this.#tunnel
    const { openTimeoutMillis } = parts.options
    const { phase } = this
    if (parts.clock.now() - this.#began >= openTimeoutMillis - 1)
      return new TunnelError('ERR_OPEN_TIMEOUT', `${target.id}: not open within ${openTimeoutMillis} ms (it was at ${phase})`, {
        phase,
      })
    return endError ?? new TunnelError('ERR_ABORTED', `${target.id}: the dial was given up`, { phase })
  }

  #enter(phase: Phase): void {
    const now = this.#tunnel.parts.clock.now()
    if (this.phase !== 'queued') this.#tunnel.record.phases[this.phase] = now - this.#phaseSince
    this.phase = phase
    this.#phaseSince = now
  }
}
