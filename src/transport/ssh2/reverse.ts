import type { EventEmitter } from 'node:events'
import type { Client, ClientChannel } from 'ssh2'
import type { Remote } from '../../api/forward.ts'
import { TunnelError, type TunnelErrorCode } from '../../errors.ts'
import type { Held } from '../../owners/scope.ts'
import { remoteName } from '../../remote.ts'
import { quietly } from '../../wait.ts'
import type { Arrival, Bounds, Dial, ReverseListener } from '../transport.ts'
import type { OwnedChannel } from './channel.ts'

/** What a server says of a channel that it opens. */
export interface Inbound {
  readonly type: string
  readonly data?: { readonly destIP?: string; readonly destPort?: number; readonly socketPath?: string } | undefined
}

/** What they need of their connection. */
export interface Home {
  readonly isLost: () => boolean
  /** Waits for an answer of the server; `start` may throw. */
  bounded<T>(
    start: (settle: (value: T) => void, fail: (error: unknown) => void) => void,
    bounds: Bounds,
    tooLate: () => TunnelError,
  ): Promise<T>
  own(stream: ClientChannel, held: Held): OwnedChannel
}

type Arrived = (arrival: Arrival) => void
type Bound = { readonly host: string; readonly port: number } | { readonly socketPath: string }

/** For as long as the server may believe that it should listen. */
const REFUSE: Arrived = (arrival) => arrival.reject()

const nameOf = ({ type, data = {} }: Inbound): string | undefined => {
  if (type === 'forwarded-tcpip') return `${data.destIP}:${data.destPort}`
  return type === 'forwarded-streamlocal@openssh.com' ? data.socketPath : undefined
}
const nameFor = (bound: Bound) => ('port' in bound ? `${bound.host}:${bound.port}` : bound.socketPath)

/** Where the server of one connection listens for us, and who takes what comes in there. Nothing else may come in. */
export class ReverseListeners {
  readonly #client: Client
  readonly #dial: Pick<Dial, 'scope' | 'target'>
  readonly #home: Home
  readonly #announced = new Map<string, Arrived>()

  constructor(client: Client, dial: Pick<Dial, 'scope' | 'target'>, home: Home) {
    this.#client = client
    this.#dial = dial
    this.#home = home
    const events: EventEmitter = client
    for (const [event, type] of [
      ['tcp connection', 'forwarded-tcpip'],
      ['unix connection', 'forwarded-streamlocal@openssh.com'],
    ] as const) {
      events.on(event, (data: Inbound['data'], accept: () => ClientChannel, reject: () => void) =>
        this.#arrive({ type, data }, accept, reject),
      )
    }
  }

  /** Whether the server may open this channel: it listens there because we asked it to. */
  expects(inbound: Inbound): boolean {
    const name = nameOf(inbound)
    return name !== undefined && this.#announced.has(name)
  }

  /** See `Connection.requestReverse`. */
  async request(remote: Remote, arrived: Arrived, bounds: Bounds): Promise<ReverseListener> {
    const label = remoteName(remote)
    let isGivenUp = false
    const answered = (bound: Bound): void => {
      // What comes in may stand right behind the answer.
      this.#announced.set(nameFor(bound), isGivenUp ? REFUSE : arrived)
      if (isGivenUp) quietly(this.#cancel(bound, { ...bounds, signal: undefined }))
    }
    try {
      const bound = await this.#home.bounded<Bound>(
        (settle, fail) =>
          this.#ask(remote, (error, bound) => {
            if (error !== undefined) return fail(this.#refused(label, error))
            answered(bound)
            return settle(bound)
          }),
        bounds,
        () => this.#error('ERR_CHANNEL_TIMEOUT', `did not say within ${bounds.timeoutMillis} ms whether it listens on ${label}`),
      )
      return { address: bound, close: (within) => this.#cancel(bound, within) }
    } catch (error) {
      isGivenUp = true
      throw error
    }
  }

  #ask(remote: Remote, answered: (error: Error | undefined, bound: Bound) => void): void {
    const client = this.#client
    if ('socketPath' in remote) {
      const { socketPath } = remote
      client.openssh_forwardInStreamLocal(socketPath, (error) => answered(error ?? undefined, { socketPath }))
      return
    }
    const { host = '127.0.0.1', port } = remote
    client.forwardIn(host, port, (error, bound) => answered(error, { host, port: bound }))
  }

  /** Never rejects: a server that does not answer has lost the connection, or soon will. */
  async #cancel(bound: Bound, bounds: Bounds): Promise<void> {
    const client = this.#client
    const name = nameFor(bound)
    // Until it has answered, what it took before is still on its way.
    this.#announced.set(name, REFUSE)
    const start = (settle: () => void): void => {
      const answered = (error?: Error | null) => {
        if (!error) this.#announced.delete(name)
        settle()
      }
      if ('port' in bound) client.unforwardIn(bound.host, bound.port, answered)
      else client.openssh_unforwardInStreamLocal(bound.socketPath, answered)
    }
    await this.#home
      .bounded<void>(start, bounds, () =>
        this.#error('ERR_CHANNEL_TIMEOUT', `did not confirm that it stopped listening on ${name}`),
      )
      .catch(() => {
        // Lost with its connection.
      })
  }

  #arrive(inbound: Inbound, accept: () => ClientChannel, reject: () => void): void {
    const name = nameOf(inbound) ?? ''
    const arrived = this.#announced.get(name) ?? REFUSE
    const { own, isLost } = this.#home
    arrived({
      accept: () => {
        if (isLost()) throw this.#error('ERR_LOST', `was lost before the connection to ${name} was taken`)
        let owned: OwnedChannel | undefined
        const held = this.#dial.scope.hold('channel', `from ${name}`, { force: () => owned?.close() })
        owned = own(accept(), held)
        return owned.stream
      },
      reject: () => {
        if (!isLost()) reject()
      },
    })
  }

  #refused(label: string, error: Error): TunnelError {
    if (TunnelError.is(error)) return error
    if (!error.message.startsWith('Unable to bind'))
      return this.#error('ERR_LOST', `was lost before it said whether it listens on ${label}`)
    return this.#error('ERR_FORWARD_FAILED', `does not listen on ${label}`)
  }

  #error(code: TunnelErrorCode, what: string): TunnelError {
    return new TunnelError(code, `${this.#dial.target.id}: the server ${what}`, { phase: 'forward' })
  }
}
