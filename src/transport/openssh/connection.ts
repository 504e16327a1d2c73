import type { Duplex } from 'node:stream'
import type { Remote } from '../../api/forward.ts'
import type { ExecResult } from '../../api/lease.ts'
import { TunnelError } from '../../errors.ts'
import { remoteName } from '../../remote.ts'
import { shown } from '../../shown.ts'
import { quietly } from '../../wait.ts'
import { collect, type Exit, noExit } from '../exec.ts'
import { keepAlive } from '../keepalive.ts'
import { ConnectionLife } from '../life.ts'
import type { Arrival, Bounds, Connection, Dial, ReverseListener, Run } from '../transport.ts'
import type { Master } from './master.ts'
import { Control } from './mux/control.ts'
import { Openings, tooLate } from './openings.ts'
import { Probe } from './probe.ts'
import type { ProxyChannel } from './proxy/channel.ts'
import { ConnectionLayer } from './proxy/layer.ts'
import type { ChannelKind } from './proxy/messages.ts'
import { requestReverse, type Told } from './reverse.ts'
import { string } from './wire.ts'

/** ssh says why it ends by its exit, which follows the end of its control connection at once. */
const LAST_WORDS_MILLIS = 250

const ALIVE_BOUND_MILLIS = 5_000

/**
 * One connection by ssh: a master that is up, and over its control socket one connection in proxy mode, held for as long as the tunnel lives, whose end is the loss.
 * No process is started for anything that goes through it.
 */
export class OpensshConnection implements Connection {
  readonly remoteAddress = undefined
  readonly controlPath: string
  provenAt: number
  readonly #dial: Dial
  readonly #life: ConnectionLife
  readonly #layer: ConnectionLayer
  readonly #openings: Openings
  readonly #told = new Map<string, Told>()
  readonly #probe: Probe
  #stopKeepAlive: () => void = () => {}

  /** Proves that the control socket is the child's, and takes the proxy connection. Rejects with a TunnelError. */
  static async open(dial: Dial, master: Master): Promise<OpensshConnection> {
    const bounds = { signal: dial.signal, timeoutMillis: ALIVE_BOUND_MILLIS }
    const { scope, clock, target } = dial
    const control = await Control.connect({ controlPath: master.controlPath, host: target.id, scope, clock }, bounds)
    const answer = await control.ask({ kind: 'alive' }, bounds)
    if (answer.kind !== 'alive' || answer.pid !== master.child.pid) {
      control.close()
      throw new TunnelError('ERR_LOST', `${target.id}: somebody else answers at the control socket`, { phase: 'open' })
    }
    const connection = new OpensshConnection(dial, master, control, await control.becomeProxy(bounds))
    connection.#begin()
    return connection
  }

  private constructor(dial: Dial, master: Master, { socket }: Control, already: Buffer) {
    this.#dial = dial
    this.controlPath = master.controlPath
    this.#life = new ConnectionLife(dial.clock)
    this.provenAt = dial.clock.now()
    const ground = {
      socket,
      buffered: dial.buffered,
      now: () => dial.clock.now(),
      proven: () => {
        this.provenAt = dial.clock.now()
      },
      broken: (error: TunnelError) => this.#lose(this.#named(error)),
    }
    this.#layer = new ConnectionLayer(ground, already)
    const own = { dial, layer: this.#layer, life: this.#life }
    this.#openings = new Openings(own)
    this.#probe = new Probe(own, this.#openings, master.controlPath)
    socket.once('close', () => this.#closed())
    quietly(master.child.exited.then(() => this.#gone(() => master.endError())))
  }

  get error(): TunnelError | undefined {
    return this.#life.error
  }

  #begin(): void {
    const { target, clock, holdSession } = this.#dial
    if (holdSession) quietly(this.#holdSession())
    this.#stopKeepAlive = keepAlive({
      clock,
      intervalMillis: target.keepAliveIntervalMillis,
      countMax: target.keepAliveCountMax,
      provenAt: () => this.provenAt,
      isPaused: () => this.#layer.reading.isPaused,
      ask: () => quietly(this.probe({ signal: undefined, timeoutMillis: target.keepAliveIntervalMillis })),
      dead: () => this.#lose(new TunnelError('ERR_LOST', `${target.id}: the server does not answer keepalives`)),
    })
    if (this.error !== undefined) this.#stopKeepAlive()
  }

  onLost(listener: (error: TunnelError) => void): void {
    this.#life.onLost(listener)
  }

  onWorn(listener: () => void): void {
    this.#openings.onWorn(listener)
  }

  async openChannel(to: Remote, bounds: Bounds): Promise<Duplex> {
    const kind: ChannelKind =
      'socketPath' in to
        ? { type: 'direct-streamlocal@openssh.com', path: to.socketPath }
        : { type: 'direct-tcpip', host: to.host ?? '127.0.0.1', port: to.port }
    return await this.#openings.open(kind, remoteName(to), bounds)
  }

  async exec(command: string, run: Run): Promise<ExecResult> {
    const { clock, channelTimeoutMillis } = this.#dial
    const began = clock.now()
    const startBounds = { signal: run.signal, timeoutMillis: Math.min(run.timeoutMillis, channelTimeoutMillis) }
    let exit = noExit()
    const channel = await this.#command(command, startBounds, (told) => {
      exit = told
    })
    const left = Math.max(0, run.timeoutMillis - (clock.now() - began))
    try {
      return await collect(channel, run, { lost: () => this.error, exit: () => exit, clock, leftMillis: left })
    } catch (error) {
      // To close the channel ends no process that neither reads nor writes.
      channel.tell('signal', [string('HUP')])
      throw error
    } finally {
      channel.destroy()
    }
  }

  async probe(bounds: Bounds): Promise<void> {
    await this.#probe.ask(bounds)
  }

  async requestReverse(remote: Remote, arrived: (arrival: Arrival) => void, bounds: Bounds): Promise<ReverseListener> {
    if (this.error !== undefined) throw this.error
    const probe = (within: Bounds) => this.probe(within)
    const proven = () => {
      this.provenAt = this.#dial.clock.now()
    }
    const asked = { dial: this.#dial, controlPath: this.controlPath, life: this.#life, probe, proven, told: this.#told }
    return await requestReverse(asked, remote, arrived, bounds)
  }

  /** sshd sets TCP_NODELAY when a session opens (9.2, by strace), so new channels do not wait 40 ms for an ACK. */
  async #holdSession(): Promise<void> {
    const bounds = { signal: undefined, timeoutMillis: this.#dial.channelTimeoutMillis }
    const channel = await this.#command('cat >/dev/null', bounds, () => {})
    channel.resume()
    channel.stderr.resume()
  }

  async #command(command: string, bounds: Bounds, ended: (exit: Exit) => void): Promise<ProxyChannel> {
    await this.#probe.vacated(bounds)
    const channel = await this.#openings.open({ type: 'session' }, 'exec', bounds, (name, details) => {
      if (name === 'exit-status') ended({ exitCode: details.uint32() ?? null, signal: null })
      if (name === 'exit-signal') ended({ exitCode: null, signal: `SIG${shown(details.text() ?? '', 40)}` })
    })
    // There before the server says anything.
    void channel.stderr
    const start = (settle: (isDone: boolean | undefined) => void, fail: (error: unknown) => void): void =>
      channel.ask('exec', [string(command)], (isDone) => (this.error === undefined ? settle(isDone) : fail(this.error)))
    try {
      const isStarted = await this.#life.answer(start, bounds, () => tooLate('exec', bounds), this.#layer.reading.question())
      if (isStarted === true) return channel
      throw new TunnelError('ERR_EXEC', 'the server refuses to run commands', { phase: 'channel' })
    } catch (error) {
      channel.tell('signal', [string('HUP')])
      channel.destroy()
      throw error
    }
  }

  #closed(): void {
    const { target, clock, scope } = this.#dial
    const error = () => new TunnelError('ERR_LOST', `${target.id}: its ssh closed the control connection`)
    if (scope.isReleasing) this.#lose(error())
    else clock.setTimeout(() => this.#gone(error), LAST_WORDS_MILLIS)
  }

  /** When a jump goes, the ssh behind it may be seen to end first: the jump is asked which of them it was. */
  #gone(error: () => TunnelError): void {
    const { jump, scope } = this.#dial
    if (jump === undefined || scope.isReleasing) this.#lose(error())
    else quietly(jump.verdict().then((lost) => this.#lose(lost ?? error())))
  }

  #lose(error: TunnelError): void {
    this.#life.end(error, () => {
      this.#stopKeepAlive()
      this.#layer.lose(error)
    })
  }

  #named(error: TunnelError): TunnelError {
    return new TunnelError(error.code, `${this.#dial.target.id}: ${error.message}`, { cause: error })
  }
}
