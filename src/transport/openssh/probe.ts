import { TunnelError } from '../../errors.ts'
import { quietly } from '../../wait.ts'
import type { Bounds } from '../transport.ts'
import { askMaster } from './mux/control.ts'
import type { Ground, Openings } from './openings.ts'
import type { ProxyChannel } from './proxy/channel.ts'

/** Nothing can listen there, and every server has to say so. */
const NOWHERE = { socketPath: '/' }

/**
 * Asks the server whether it is there, and never the master, which answers for itself alone. The question is a request on a channel that is open, or on
 * a session that is opened for it. Where the server grants no session (MaxSessions 0), each refusal would cost the master a slot: there it is asked to listen where nobody can.
 */
export class Probe {
  readonly #ground: Ground
  readonly #openings: Openings
  readonly #controlPath: string
  #isWithoutSessions = false
  /** A session that is there for a question only; resolves when it is no more. */
  #occupied: Promise<void> | undefined

  constructor(ground: Ground, openings: Openings, controlPath: string) {
    this.#ground = ground
    this.#openings = openings
    this.#controlPath = controlPath
  }

  /** See `Connection.probe`. */
  async ask(bounds: Bounds): Promise<void> {
    const { layer } = this.#ground
    const channel = layer.anyChannel
    if (channel !== undefined) return await this.#askOn(channel, bounds)
    try {
      if (this.#isWithoutSessions) await this.#askForListener(bounds)
      else await this.#askForSession(bounds)
    } catch (error) {
      throw TunnelError.is(error) && error.code === 'ERR_CHANNEL_TIMEOUT' ? this.#silence(bounds) : error
    }
  }

  /** Waits until no session is taken by a question: a server may allow only one at a time. */
  async vacated(bounds: Bounds): Promise<void> {
    const { life, layer } = this.#ground
    for (let taken = this.#occupied; taken !== undefined; taken = this.#occupied) {
      const start = (settle: () => void) => void taken?.then(settle)
      await life.answer<void>(start, bounds, () => this.#silence(bounds), layer.reading.question())
    }
  }

  async #askOn(channel: ProxyChannel, bounds: Bounds): Promise<void> {
    const { life, layer } = this.#ground
    const start = (settle: () => void, fail: (error: unknown) => void): void =>
      channel.ask('keepalive@openssh.com', [], () => (life.error === undefined ? settle() : fail(life.error)))
    await life.answer<void>(start, bounds, () => this.#silence(bounds), layer.reading.question())
  }

  /** Granted or not, the server has answered. */
  async #askForSession(bounds: Bounds): Promise<void> {
    await this.vacated(bounds)
    const opening = this.#openings.open({ type: 'session' }, 'a probe', bounds)
    const taken = opening.then(
      (session) => session.over(),
      () => {
        // It is told below.
      },
    )
    this.#occupied = taken
    quietly(
      taken.then(() => {
        if (this.#occupied === taken) this.#occupied = undefined
      }),
    )
    try {
      await opening
    } catch (error) {
      if (!TunnelError.is(error) || !['ERR_CHANNEL_REFUSED', 'ERR_PROHIBITED'].includes(error.code)) throw error
      this.#isWithoutSessions = true
    }
  }

  async #askForListener(bounds: Bounds): Promise<void> {
    const { dial, life } = this.#ground
    if (life.error !== undefined) throw life.error
    const { scope, clock, target } = dial
    const master = { controlPath: this.#controlPath, host: target.id, scope, clock }
    const forward = { forward: 'remote', listen: NOWHERE, to: NOWHERE } as const
    try {
      const { kind } = await askMaster(master, { kind: 'open-forward', ...forward }, bounds)
      if (kind === 'ok') await askMaster(master, { kind: 'close-forward', ...forward }, bounds)
    } catch (error) {
      throw life.error ?? error
    }
  }

  #silence({ timeoutMillis }: Bounds): TunnelError {
    const { target } = this.#ground.dial
    return new TunnelError('ERR_CHANNEL_TIMEOUT', `${target.id}: the server did not answer within ${timeoutMillis} ms`)
  }
}
