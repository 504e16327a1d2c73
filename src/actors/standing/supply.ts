import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { onAbort } from '../../aborts.ts'
import type { Remote } from '../../api/forward.ts'
import { TunnelError } from '../../errors.ts'
import { acquireDefaults } from '../../options/acquire.ts'
import type { Connection } from '../../transport/transport.ts'
import type { LeaseRecord } from '../lease-record.ts'
import type { Site } from './site.ts'

/** Connections that wait for a tunnel; one more is cut. */
const MOST_PARKED = 64

/**
 * Channels for the clients of a standing endpoint, each with a lease of its own: a tunnel that retires waits for them. While there is no tunnel
 * its clients are parked, unread: what they have sent lies in the kernel, and reaches the first server to which a channel opens.
 */
export class Supply {
  readonly #site: Site
  #moving = new AbortController()
  /** Clients that wait for a tunnel. */
  parked = 0

  constructor(site: Site) {
    this.#site = site
  }

  /** A channel through whichever tunnel there is within `acquireTimeoutMillis`. Rejects with why there is none, or why the server refuses. */
  async openChannel(to: Remote, client: Socket): Promise<Duplex> {
    const { parts, target } = this.#site
    const { clock, options, facts } = parts
    const until = clock.now() + options.acquireTimeoutMillis
    for (;;) {
      const lease = await this.#lease(client, until)
      if (lease === undefined) continue
      const { tunnel } = lease
      let connection: Connection | undefined
      try {
        connection = tunnel.up
        const channel = await connection.openChannel(to, { signal: undefined, timeoutMillis: options.channelTimeoutMillis })
        channel.once('close', () => lease.release(undefined))
        if (channel.closed) lease.release(undefined)
        return channel
      } catch (error) {
        const isLost = connection === undefined || connection.error !== undefined
        lease.release(undefined)
        // Nothing has left for that server: the next tunnel may have it.
        if (isLost && !client.destroyed && clock.now() < until) continue
        const refusal = error as TunnelError
        facts.publish('forward.refused', { destination: target.id, generation: tunnel.generation, to, error: refusal })
        throw refusal
      }
    }
  }

  /** The endpoint leads to another target: who is parked waits for that one. */
  move(): void {
    const before = this.#moving
    this.#moving = new AbortController()
    before.abort()
  }

  /** `undefined`: ask again, the endpoint has moved. */
  async #lease(client: Socket, until: number): Promise<LeaseRecord | undefined> {
    const { registry, parts, target, label, changed } = this.#site
    const isUp = registry.find(target)?.state === 'serving'
    if (!isUp && this.parked >= MOST_PARKED)
      throw new TunnelError('ERR_POOL_EXHAUSTED', `${target.id}: ${MOST_PARKED} connections wait for its tunnel already`)
    const moving = this.#moving.signal
    const over = new AbortController()
    const given = registry.acquire(target, {
      ...acquireDefaults(Math.max(0, until - parts.clock.now())),
      whenResting: 'wait',
      label,
      signal: over.signal,
    })
    if (!(given instanceof Promise)) return given
    const leave = () => over.abort(new TunnelError('ERR_ABORTED', 'its client has left'))
    client.once('close', leave)
    const stay = onAbort(moving, () => over.abort())
    this.parked += 1
    changed()
    try {
      return await given
    } catch (error) {
      if (moving.aborted && !client.destroyed) return undefined
      throw error
    } finally {
      client.off('close', leave)
      stay()
      this.parked -= 1
      changed()
    }
  }
}
