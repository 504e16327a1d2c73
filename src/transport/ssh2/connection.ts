import type { Duplex } from 'node:stream'
import type { Client, ClientChannel } from 'ssh2'
import { onAbort } from '../../aborts.ts'
import type { Remote } from '../../api/forward.ts'
import type { ExecResult } from '../../api/lease.ts'
import { TunnelError } from '../../errors.ts'
import { remoteName } from '../../remote.ts'
import { keepAlive } from '../keepalive.ts'
import type { Bounds, Connection, Dial, Run } from '../transport.ts'
import { OwnedChannel } from './channel.ts'
import { channelError, lossError } from './classify.ts'
import { collect } from './exec.ts'

/** How a channel is asked for; the callback comes once, with the channel or with why not. */
type Ask = (answer: (error: Error | undefined, channel: ClientChannel) => void) => unknown

/** One connection of ssh2 that is up, on a stream that its scope owns. */
export class Ssh2Connection implements Connection {
  readonly remoteAddress: string | undefined
  error: TunnelError | undefined
  provenAt: number
  readonly #client: Client
  readonly #stream: Duplex
  readonly #dial: Dial
  readonly #channels = new Map<object, OwnedChannel>()
  readonly #lostListeners = new Set<(error: TunnelError) => void>()
  #explain: (cause: unknown) => TunnelError
  #stopKeepAlive: () => void = () => {}
  #takeBack: (() => void) | undefined

  /** `explain` names what ends it before login is done; without a cause the server has closed it. */
  constructor(client: Client, stream: Duplex, dial: Dial, explain: (cause: unknown) => TunnelError) {
    this.#client = client
    this.#stream = stream
    this.#dial = dial
    this.#explain = explain
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
    const { target, clock } = this.#dial
    this.#explain = (cause) => lossError(cause, target.id)
    this.#stopKeepAlive = keepAlive({
      clock,
      intervalMillis: target.keepAliveIntervalMillis,
      countMax: target.keepAliveCountMax,
      provenAt: () => this.provenAt,
      isPaused: () => this.#takeBack !== undefined,
      ask: () => this.#ping(() => {}),
      dead: () => this.lose(new TunnelError('ERR_LOST', `${target.id}: the server does not answer keepalives`)),
    })
  }

  /** The connection is gone, or as good as gone: told once, with the first cause. */
  lose(cause: unknown): void {
    if (this.error !== undefined) return
    const error = this.#explain(cause)
    this.error = error
    this.#stopKeepAlive()
    this.#takeBack?.()
    for (const channel of [...this.#channels.values()]) channel.lose(error)
    this.#channels.clear()
    for (const listener of this.#lostListeners) listener(error)
    this.#lostListeners.clear()
  }

  onLost(listener: (error: TunnelError) => void): void {
    if (this.error === undefined) this.#lostListeners.add(listener)
    else listener(this.error)
  }

  /** Bytes have come in for a channel; over the pool's bound this connection stops reading for a while. */
  received(channel: object, bytes: number): void {
    this.#channels.get(channel)?.received(bytes)
    const { buffered } = this.#dial
    if (!buffered.isOver || this.#takeBack !== undefined) return
    this.#stream.pause()
    this.#takeBack = buffered.whenRoom(() => {
      this.#takeBack = undefined
      this.#stream.resume()
    })
  }

  async openChannel(to: Remote, bounds: Bounds): Promise<Duplex> {
    const ask: Ask =
      'socketPath' in to
        ? (answer) => this.#client.openssh_forwardOutStreamLocal(to.socketPath, answer)
        : (answer) => this.#client.forwardOut('127.0.0.1', 0, to.host ?? '127.0.0.1', to.port, answer)
    return (await this.#open(remoteName(to), ask, bounds)).stream
  }

  async exec(command: string, run: Run): Promise<ExecResult> {
    const ask: Ask = (answer) => this.#client.exec(command, answer)
    const { channelTimeoutMillis } = this.#dial
    const channel = await this.#open('exec', ask, {
      signal: run.signal,
      timeoutMillis: Math.min(run.timeoutMillis, channelTimeoutMillis),
    })
    try {
      return await collect(channel.stream, run, () => this.error, this.#dial.clock)
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

  /** A request that a server must answer, and does by refusing it: 0.1 ms on loopback. */
  #ping(answered: () => void): void {
    try {
      this.#client.unforwardIn('127.0.0.1', 0, () => answered())
    } catch {
      // "Not connected": the close that follows tells.
    }
  }

  #open(label: string, ask: Ask, bounds: Bounds): Promise<OwnedChannel> {
    const { scope, buffered } = this.#dial
    return this.#bounded<OwnedChannel>(
      (settle, fail, isLate) => {
        let owned: OwnedChannel | undefined
        const held = scope.hold('channel', label, { force: () => owned?.close() })
        try {
          ask((error, stream) => {
            if (error !== undefined) {
              held.strike()
              return fail(this.error ?? channelError(error, label))
            }
            owned = new OwnedChannel(stream, held, buffered, () => this.#channels.delete(stream))
            this.#channels.set(stream, owned)
            if (this.error !== undefined) owned.lose(this.error)
            else if (isLate()) owned.close()
            else settle(owned)
          })
        } catch (error) {
          // ssh2 throws "Not connected" where an error was expected.
          held.strike()
          fail(this.error ?? channelError(error, label))
        }
      },
      bounds,
      () =>
        new TunnelError(
          'ERR_CHANNEL_TIMEOUT',
          `the server did not open a channel to ${label} within ${bounds.timeoutMillis} ms`,
          { phase: 'channel' },
        ),
    )
  }

  #bounded<T>(
    start: (settle: (value: T) => void, fail: (error: unknown) => void, isLate: () => boolean) => void,
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
        done()
      }
      const fail = (error: unknown) => settle(() => reject(error))
      const timer = this.#dial.clock.setTimeout(() => fail(tooLate()), timeoutMillis)
      const takeBack = onAbort(signal, () => fail(signal?.reason))
      this.#lostListeners.add(fail)
      start(
        (value) => settle(() => resolve(value)),
        fail,
        () => isSettled,
      )
    })
  }
}
