import type { AnyActorRef, AnyMachineSnapshot } from 'xstate'
import { ForwardTable } from '../channels/forwards.ts'
import { TunnelError, type TunnelErrorCode } from '../errors.ts'
import type { DialPlace } from '../limits/dial-limits.ts'
import type { OwnedDirectory } from '../owners/directory/directory.ts'
import { LastingDirectory } from '../owners/directory/lasting.ts'
import { Scope } from '../owners/scope.ts'
import type { ResolvedTarget } from '../target.ts'
import type { Connection } from '../transport/transport.ts'
import { untilReleased } from './burial.ts'
import { Jump } from './jump.ts'
import type { LeaseRecord } from './lease-record.ts'
import { asTunnelError, Opening } from './opening.ts'
import type { Parts } from './parts.ts'
import { Proof } from './proof.ts'
import { TunnelLeases } from './tunnel-leases.ts'
import { TunnelRecord } from './tunnel-record.ts'

/** What a tunnel tells its destination past their machines. */
export interface TunnelNews {
  /** It was open and is lost; told before its machine hears of it. */
  readonly lost: (error: TunnelError) => void
  /** It has to be succeeded: the jump under it is not lent any more, or its connection is worn out. */
  readonly outlived: () => void
}

/** What one tunnel's machine acts through: its scope, its connection, its leases. The machine decides when; here is how. */
export class Tunnel {
  readonly parts: Parts
  readonly target: ResolvedTarget
  readonly generation: number
  readonly scope: Scope
  readonly leases: TunnelLeases
  readonly record: TunnelRecord
  readonly proof: Proof
  /** The first cause: what follows from it is not told instead. */
  error: TunnelError | undefined
  /** Set when the whole destination ends: what leases are told if nothing worse happened. */
  endError: TunnelError | undefined
  #ref: AnyActorRef | undefined
  #connection: Connection | undefined
  readonly #directory: LastingDirectory
  #forwards: ForwardTable | undefined
  #dialing: Promise<void> = Promise.resolve()
  readonly #opening: Opening
  readonly #place: DialPlace
  /** The hop under it. */
  readonly jump: Jump | undefined
  readonly #news: TunnelNews
  #isJumpLost = false

  /** The lease on its jump is the tunnel's from here on. */
  constructor(
    parts: Parts,
    target: ResolvedTarget,
    generation: number,
    place: DialPlace,
    jump: LeaseRecord | undefined,
    news: TunnelNews,
  ) {
    this.parts = parts
    this.target = target
    this.generation = generation
    this.#place = place
    this.#news = news
    this.scope = new Scope(parts.ledger, `${target.id} generation ${generation}`)
    this.#directory = new LastingDirectory(() => parts.directories.tunnelDirectory(this.scope, target.id))
    this.record = new TunnelRecord(this)
    this.leases = new TunnelLeases(this)
    this.proof = new Proof(this)
    this.#opening = new Opening(this, place)
    this.jump = jump && new Jump(jump, target.id, { lost: (error) => this.#loseJump(error), draining: () => news.outlived() })
  }

  /** Whether its actor ever ran: an admission that nobody took up has none. */
  get isAttached(): boolean {
    return this.#ref !== undefined
  }

  get isOpen(): boolean {
    return this.record.state === 'open'
  }

  get phase(): string {
    return this.#opening.phase
  }

  /** Monotonic time of the last proof that the other end is there. */
  get provenAt(): number {
    return this.#connection?.provenAt ?? Number.NEGATIVE_INFINITY
  }

  get remoteAddress(): string | undefined {
    return this.#connection?.remoteAddress
  }

  /** The connection; throws the tunnel's error when there is none (any more). */
  get up(): Connection {
    if (this.#connection === undefined || this.#connection.error !== undefined)
      throw this.#connection?.error ?? this.failure('ERR_LOST')
    return this.#connection
  }

  get forwards(): ForwardTable {
    const connection = this.up
    const { clock, options } = this.parts
    const { channelTimeoutMillis } = options
    this.#forwards ??= new ForwardTable({
      connection,
      scope: this.scope,
      clock,
      channelTimeoutMillis,
      openChannel: (to) => connection.openChannel(to, { signal: undefined, timeoutMillis: channelTimeoutMillis }),
      freshPath: async () => {
        const directory = await this.makeDirectory()
        const path = directory.claim()
        return { path, free: () => directory.free(path) }
      },
      refused: (to, error) =>
        this.parts.facts.publish('forward.refused', { destination: this.target.id, generation: this.generation, to, error }),
    })
    return this.#forwards
  }

  attach(ref: AnyActorRef): void {
    this.#ref = ref
    this.#opening.begin()
    this.record.moved('opening', undefined)
  }

  tell(event: { type: string; [field: string]: unknown }): void {
    this.#ref?.send(event as never)
  }

  snapshot(): AnyMachineSnapshot | undefined {
    return this.#ref?.getSnapshot() as AnyMachineSnapshot | undefined
  }

  /** Calls back at each step of the machine, the last among them. */
  watch(look: () => void): { unsubscribe(): void } | undefined {
    return this.#ref?.subscribe({ next: look, complete: look, error: look })
  }

  /** The tunnel's private directory, made when first asked for. */
  makeDirectory(): Promise<OwnedDirectory> {
    return this.#directory.get()
  }

  /** Opens the connection; what arrives after `signal` aborted is in the scope all the same. Rejects with a TunnelError. */
  dial(signal: AbortSignal): Promise<void> {
    const controller = new AbortController()
    const abort = () => controller.abort(this.#opening.abortReason(this.endError))
    signal.addEventListener('abort', abort, { once: true })
    const dialing = this.#open(controller.signal).finally(() => signal.removeEventListener('abort', abort))
    this.#dialing = dialing.catch(() => {
      // Told through the machine; here only that it has settled counts.
    })
    return dialing
  }

  async #open(signal: AbortSignal): Promise<void> {
    try {
      // Lost before the machine could hear of it.
      if (this.#isJumpLost) this.#tellJumpLost()
      if (this.error !== undefined) throw this.error
      const connection = await this.#opening.dial(signal, this.jump)
      this.#connection = connection
      connection.onLost((error) => this.#lose(error))
      connection.onWorn(() => this.#news.outlived())
      if (connection.error !== undefined) throw connection.error
    } catch (error) {
      // Aborted, whatever came after that followed from it.
      this.error ??= asTunnelError(signal.aborted ? signal.reason : error)
      throw this.error
    } finally {
      this.#place.release()
    }
  }

  /** It has opened, perhaps through a jump that is not lent any more. */
  keepUp(): void {
    if (this.jump?.isDraining === true) this.#news.outlived()
  }

  /** It was open and is lost: an end like any other for its leases, another cause for its destination. */
  noteLoss(error: TunnelError): void {
    this.#news.lost(error)
  }

  #lose(error: TunnelError): void {
    this.error ??= error
    if (this.record.state === 'draining' && this.leases.size > 0) this.record.lostInDrain(this.error)
    this.tell({ type: 'tunnel.lost', generation: this.generation, code: error.code })
  }

  #loseJump(error: TunnelError): void {
    this.#isJumpLost = true
    this.error ??= error
    if (this.record.state === 'draining' && this.leases.size > 0) this.record.lostInDrain(this.error)
    this.#tellJumpLost()
  }

  #tellJumpLost(): void {
    this.tell({ type: 'tunnel.lost', generation: this.generation, code: 'ERR_LOST', isJumps: true })
  }

  /** Its error, or one made of the code that its machine ended with. */
  failure(code: string | undefined, reason = 'the tunnel ended'): TunnelError {
    const known: unknown = code ?? this.snapshot()?.context.code ?? 'ERR_LOST'
    return this.error ?? this.endError ?? new TunnelError(known as TunnelErrorCode, `${this.target.id}: ${reason}`)
  }

  /** A round trip through the server. */
  probe(signal: AbortSignal | undefined, timeoutMillis: number): Promise<void> {
    try {
      return this.up.probe({ signal, timeoutMillis })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Gives everything back; resolves when the scope is empty and no dial is under way. */
  async release(isForced: boolean): Promise<void> {
    if (isForced) {
      this.record.wasForced = true
      this.scope.force()
    } else this.scope.ask()
    await this.#dialing
    await this.scope.emptied()
  }

  /** Frees all without asking, again and again: the net for an actor that was stopped or broke. `stuck` hears when it does not help at once. */
  async bury(stuck?: () => void): Promise<void> {
    this.leases.cut('ERR_LOST', 'its actor ended')
    this.#place.release()
    await untilReleased(() => this.release(true), this.parts.clock, stuck)
  }

  /** It is final: its places go to others. */
  farewell(): void {
    this.#place.release()
    this.jump?.release()
    this.parts.idle.delete(this)
    this.parts.room.leave(this)
    this.record.end()
  }
}
