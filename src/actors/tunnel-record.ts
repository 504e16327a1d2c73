import type { AnyMachineSnapshot } from 'xstate'
import type { TunnelError } from '../errors.ts'
import type { Tunnel } from './tunnel.ts'

const isFinal = (state: string) => state === 'closed' || state === 'failed'

/** What is told of one tunnel: its state since when, its phases, and the facts as it moves. */
export class TunnelRecord {
  state: string | undefined
  since: Date
  reason: string | undefined
  wasForced = false
  wasStuck = false
  isBroken = false
  leasesCut = 0
  /** What `retire` was told for people to read. */
  retiredFor: string | undefined
  readonly phases: Record<string, number> = {}
  readonly #tunnel: Tunnel
  #bornAt: number
  #drainedAt = 0

  constructor(tunnel: Tunnel) {
    this.#tunnel = tunnel
    this.since = tunnel.parts.clock.date()
    this.#bornAt = tunnel.parts.clock.now()
  }

  /** The machine has entered another of its five states. */
  moved(to: string, snapshot: AnyMachineSnapshot | undefined): void {
    const { tally, clock } = this.#tunnel.parts
    tally.moveTunnel(this.state, to)
    this.state = to
    this.since = clock.date()
    if (snapshot === undefined) return
    const { code, reason, wasOpen } = snapshot.context as { code: string | undefined; reason: string; wasOpen: boolean }
    this.reason = reason === 'retired' && this.retiredFor !== undefined ? `retired: ${this.retiredFor}` : reason
    if (to === 'open') this.#opened()
    else if (to === 'draining') this.#draining(wasOpen ? code : undefined)
    else if (isFinal(to)) this.#ended(wasOpen, code, this.reason)
  }

  /** Its machine broke: from here on it is told here what the machine cannot tell. True if it had ever been open. */
  broke(error: TunnelError): boolean {
    const wasLent = this.state === 'open'
    this.isBroken = true
    this.moved('draining', undefined)
    this.reason = error.message
    this.#draining(undefined)
    if (wasLent) this.#lost(error, this.#tunnel.leases.size)
    return this.#tunnel.snapshot()?.context?.wasOpen === true
  }

  /** What a broken machine held is freed. */
  buried({ code, wasOpen }: { code: string; wasOpen: boolean }): void {
    this.moved(wasOpen ? 'closed' : 'failed', undefined)
    this.#ended(wasOpen, code, this.reason ?? '')
  }

  /** Whatever state it was counted in, it is no longer. */
  end(): void {
    this.#tunnel.parts.tally.moveTunnel(this.state, undefined)
    this.state = undefined
  }

  get #name(): { destination: string; generation: number } {
    return { destination: this.#tunnel.target.id, generation: this.#tunnel.generation }
  }

  #opened(): void {
    const { parts, target } = this.#tunnel
    const { tally, facts, clock } = parts
    this.#tunnel.keepUp()
    tally.opened += 1
    const openMillis = clock.now() - this.#bornAt
    facts.publish('tunnel.opened', { ...this.#name, transport: target.transport, openMillis, phases: { ...this.phases } })
  }

  #draining(code: string | undefined): void {
    this.#drainedAt = this.#tunnel.parts.clock.now()
    this.#tunnel.leases.tellDraining()
    if (code !== undefined) this.#lost(this.#tunnel.failure(code), this.leasesCut)
  }

  /** Lost under the leases that it was still finishing. */
  lostInDrain(error: TunnelError): void {
    this.#lost(error, this.#tunnel.leases.size)
  }

  #lost(error: TunnelError, leases: number): void {
    const { tally, facts, losses } = this.#tunnel.parts
    tally.lost += 1
    losses.note()
    this.#tunnel.noteLoss(error)
    facts.publish('tunnel.lost', { ...this.#name, error, leases })
  }

  #ended(wasOpen: boolean, code: string | undefined, reason: string): void {
    const { tally, facts, clock } = this.#tunnel.parts
    if (wasOpen) {
      tally.closed += 1
      facts.publish('tunnel.closed', {
        ...this.#name,
        reason,
        closeMillis: clock.now() - this.#drainedAt,
        forced: this.wasForced,
      })
    } else if (code !== undefined) {
      tally.failed += 1
      facts.publish('tunnel.failed', { ...this.#name, error: this.#tunnel.failure(code, reason) })
    }
  }
}
