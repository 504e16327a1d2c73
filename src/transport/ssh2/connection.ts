import type { Duplex } from 'node:stream'
import type { Client, ClientChannel } from 'ssh2'
import { onAbort } from '../../aborts.ts'
import type { Remote } from '../../api/forward.ts'
import type { ExecResult } from '../../api/lease.ts'
import { TunnelError } from '../../errors.ts'
import type { Held } from '../../owners/scope.ts'
import { remoteName } from '../../remote.ts'
import { quietly } from '../../wait.ts'
import { collect, type Exit, noExit, watchExit } from '../exec.ts'
import { keepAlive } from '../keepalive.ts'
import { Reading } from '../reading.ts'
import type { Arrival, Bounds, Connection, Dial, Opening, ReverseListener, Run } from '../transport.ts'
import { OwnedChannel } from './channel.ts'
import { channelError, lossError } from './classify.ts'
import { abandonChannel, lastAsked, signalSession } from './insides.ts'
import { ReverseListeners } from './reverse.ts'
import { Writing } from './writing.ts'

/** How a channel is asked for; the callback comes once, with the channel or with why not. */
type Ask = (answer: (error: Error | undefined, channel: ClientChannel) => void) => unknown

/** One connection of ssh2 that is up, on a stream that its scope owns. */
export class Ssh2Connection implements Connection {
  readonly controlPath = undefined
  readonly remoteAddress: string | undefined
  error: TunnelError | undefined
  provenAt: number
  readonly reverse: ReverseListeners
  readonly #client: Client
  readonly #dial: Dial
  readonly #channels = new Map<object, OwnedChannel>()
  readonly #lostListeners = new Set<(error: TunnelError) => void>()
  readonly #reading: Reading
  readonly #writing: Writing
  #explain: (cause: unknown) => TunnelError
  #stopKeepAlive: () => void = () => {}

  /** `explain` names what ends it before login is done; without a cause the server has closed it. */
  constructor(client: Client, stream: Duplex, dial: Dial, explain: (cause: unknown) => TunnelError) {
    this.#client = client
    this.#dial = dial
    this.#explain = explain
    this.#reading = new Reading(stream, dial.buffered)
    this.#writing = new Writing(client, stream)
    this.reverse = new ReverseListeners(client, dial, {
      isLost: () => this.error !== undefined,
      bounded: (start, bounds, tooLate) => this.#bounded(start, bounds, tooLate),
      own: (channel, held) => this.#own(channel, held),
    })
    this.provenAt = dial.clock.now()
    const { remoteAddress, remotePort } = stream as { remoteAddress?: string; remotePort?: number }
    this.remoteAddress = remoteAddress === undefined ? undefined : `${remoteAddress}:${remotePort}`
    stream.prependListener('data', () => {
      this.provenAt = dial.clock.now()
    })
    // Before ssh2 hears of it: it ends the channels as if all had been read.
    stream.prependListener('close', () => this.lose(undefined))
    stream.on('end', () => this.lose(undefined))
  }

  /** Login is done: from here on silence is asked about. */
  begin(): void {
    const { target, clock, holdSession } = this.#dial
    if (holdSession) quietly(this.#holdSession())
    this.#explain = (cause) => lossError(cause, target.id)
    this.#stopKeepAlive = keepAlive({
      clock,
      intervalMillis: target.keepAliveIntervalMillis,
      countMax: target.keepAliveCountMax,
      provenAt: () => this.provenAt,
      isPaused: () => this.#reading.isPaused,
      ask: () => quietly(this.probe({ signal: undefined, timeoutMillis: target.keepAliveIntervalMillis })),
      dead: () => this.lose(new TunnelError('ERR_LOST', `${target.id}: the server does not answer keepalives`)),
    })
  }

  /** The connection is gone, or as good as gone: told once, with the first cause. */
  lose(cause: unknown): void {
    if (this.error !== undefined) return
    const error = this.#explain(cause)
    this.error = error
    this.#stopKeepAlive()
    this.#reading.end()
    this.#writing.end()
    for (const channel of [...this.#channels.values()]) channel.lose(error)
    this.#channels.clear()
    for (const listener of this.#lostListeners) listener(error)
    this.#lostListeners.clear()
  }

  /** It never wears out. */
  onWorn(): void {}

  onLost(listener: (error: TunnelError) => void): void {
    if (this.error === undefined) this.#lostListeners.add(listener)
    else listener(this.error)
  }

  /** Bytes have come in for a channel. */
  received(channel: object): void {
    this.#channels.get(channel)?.count()
    this.#reading.decide()
  }

  async openChannel(to: Remote, bounds: Opening): Promise<Duplex> {
    const ask: Ask =
      'socketPath' in to
        ? (answer) => this.#client.openssh_forwardOutStreamLocal(to.socketPath, answer)
        : (answer) => this.#client.forwardOut('127.0.0.1', 0, to.host ?? '127.0.0.1', to.port, answer)
    return (await this.#open(remoteName(to), ask, bounds)).stream
  }

  requestReverse(remote: Remote, arrived: (arrival: Arrival) => void, bounds: Bounds): Promise<ReverseListener> {
    return this.reverse.request(remote, arrived, bounds)
  }

  async exec(command: string, run: Run): Promise<ExecResult> {
    const { clock, channelTimeoutMillis } = this.#dial
    const began = clock.now()
    let exit: () => Exit = noExit
    const ask: Ask = (answer) =>
      this.#client.exec(command, (error, stream) => {
        if (stream !== undefined) exit = watchExit(stream)
        answer(error, stream)
      })
    const channel = await this.#open('exec', ask, {
      signal: run.signal,
      timeoutMillis: Math.min(run.timeoutMillis, channelTimeoutMillis),
    })
    const left = Math.max(0, run.timeoutMillis - (clock.now() - began))
    try {
      return await collect(channel.stream, run, { lost: () => this.error, exit, clock, leftMillis: left })
    } catch (error) {
      // To close the channel ends no process that neither reads nor writes.
      if (this.error === undefined) signalSession(this.#client, channel.stream, 'HUP')
      throw error
    } finally {
      channel.close()
    }
  }

  probe({ signal, timeoutMillis }: Bounds): Promise<void> {
    return this.#bounded(
      (settle) => this.#ping(() => settle()),
      { signal, timeoutMillis },
      () =>
        new TunnelError('ERR_CHANNEL_TIMEOUT', `${this.#dial.target.id}: the server did not answer within ${timeoutMillis} ms`),
    )
  }

  /** sshd sets TCP_NODELAY when a session opens (9.2, by strace), so new channels do not wait 40 ms for an ACK. One that grants no session costs nothing. */
  async #holdSession(): Promise<void> {
    const timeoutMillis = this.#dial.channelTimeoutMillis
    const { stream } = await this.#open('held session', (answer) => this.#client.exec('cat >/dev/null', answer), {
      signal: undefined,
      timeoutMillis,
    })
    stream.resume()
    stream.stderr.resume()
  }

  /** A request that a server must answer, and does by refusing it: 0.1 ms on loopback. */
  #ping(answered: () => void): void {
    try {
      this.#client.unforwardIn('127.0.0.1', 0, () => answered())
    } catch {
      // "Not connected": the close that follows tells.
    }
  }

  async #open(label: string, ask: Ask, bounds: Opening): Promise<OwnedChannel> {
    let owned: OwnedChannel | undefined
    let id: number | undefined
    let isGivenUp = false
    const held = this.#dial.scope.hold('channel', label, { force: () => owned?.close() })
    try {
      return await this.#bounded<OwnedChannel>(
        (settle, fail) => {
          ask((error, stream) => {
            if (isGivenUp) return
            if (error !== undefined) return fail(this.error ?? channelError(error, label))
            owned = this.#own(stream, held, bounds.isCarrier)
            return settle(owned)
          })
          id = lastAsked(this.#client)
        },
        bounds,
        () =>
          new TunnelError(
            'ERR_CHANNEL_TIMEOUT',
            `the server did not open a channel to ${label} within ${bounds.timeoutMillis} ms`,
            { phase: 'channel' },
          ),
      )
    } catch (error) {
      isGivenUp = true
      if (owned !== undefined) owned.close()
      else if (id !== undefined) abandonChannel(this.#client, id, () => held.strike())
      else held.strike()
      bounds.signal?.throwIfAborted()
      // ssh2 throws "Not connected" where an error was expected.
      throw this.error ?? channelError(error, label)
    }
  }

  #own(stream: ClientChannel, held: Held, isCarrier = false): OwnedChannel {
    const owned = new OwnedChannel(stream, held, {
      unread: (bytes) => (isCarrier ? this.#dial.buffered.add(bytes) : this.#reading.count(bytes)),
      gone: () => this.#channels.delete(stream),
    })
    this.#channels.set(stream, owned)
    this.#writing.throttle(stream)
    if (this.error !== undefined) owned.lose(this.error)
    return owned
  }

  /** Waits for an answer of the server; `start` may throw. */
  #bounded<T>(
    start: (settle: (value: T) => void, fail: (error: unknown) => void) => void,
    { signal, timeoutMillis }: Bounds,
    tooLate: () => TunnelError,
  ): Promise<T> {
    if (this.error !== undefined) return Promise.reject(this.error)
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise<T>((resolve, reject) => {
      let isSettled = false
      const settle = (done: () => void) => {
        if (isSettled) return
        isSettled = true
        this.#dial.clock.clearTimeout(timer)
        takeBack()
        this.#lostListeners.delete(fail)
        answered()
        done()
      }
      const fail = (error: unknown) => settle(() => reject(error))
      const timer = this.#dial.clock.setTimeout(() => fail(tooLate()), timeoutMillis)
      const takeBack = onAbort(signal, () => fail(signal?.reason))
      const answered = this.#reading.question()
      this.#lostListeners.add(fail)
      try {
        start((value) => settle(() => resolve(value)), fail)
      } catch (error) {
        fail(error)
      }
    })
  }
}
