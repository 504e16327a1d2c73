import { connect, type NetConnectOpts } from 'node:net'
import type { AcceptConnection, Connection, ServerChannel, Session } from 'ssh2'
import { authenticate, reject } from './authentication.ts'
import { bridge } from './bridge.ts'
import { loopback, refusalFor } from './destination.ts'
import { HEALTH_PORT, serveHealth } from './health.ts'
import { type Bind, ReverseForwards } from './reverse.ts'
import { serveSession } from './session.ts'
import { Sockets } from './sockets.ts'
import { type Refuse, refusals } from './ssh2-inside.ts'
import type { Tally } from './tally.ts'

/** What a host lets its connections do, as it is now. */
export interface Manners {
  rejectsAuth: boolean
  /** While set, channel opens are put here instead of being answered. */
  unanswered: Array<() => void> | undefined
}

/** One SSH connection, served as sshd would. Owns the sockets and listeners it asks for. */
export class Login {
  readonly #connection: Connection
  readonly #manners: Manners
  readonly #tally: Tally
  readonly #refuse: Refuse
  readonly #sockets = new Sockets()
  readonly #reverse: ReverseForwards
  /** Open channels; what to do when the connection is lost under one. */
  readonly #channels = new Map<object, () => void>()
  #isLost = false

  constructor(connection: Connection, manners: Manners, tally: Tally) {
    this.#connection = connection
    this.#manners = manners
    this.#tally = tally
    this.#refuse = refusals(connection)
    this.#reverse = new ReverseForwards(connection, this.#sockets, (channel) => this.#opened(channel))
    // Peers break off and send nonsense at will; the 'close' that follows says all there is to know.
    connection.on('error', () => {})
    connection.on('authentication', (context) => (manners.rejectsAuth ? reject(context) : authenticate(context)))
    connection.once('ready', () => {
      tally.logins += 1
    })
    connection.once('close', () => void this.close())
    connection.on('session', (accept) => this.#answer(() => this.#session(accept)))
    connection.on('tcpip', (accept, reject, to) => this.#answer(() => this.#tcp(accept, reject, to.destIP, to.destPort)))
    connection.on('openssh.streamlocal', (accept, reject, { socketPath }) =>
      this.#answer(() => this.#socket(accept, reject, { path: socketPath })),
    )
    connection.on(
      'request',
      (accept: ((port?: number) => void) | undefined, reject: (() => void) | undefined, name: string, bind: Bind) => {
        const yes = accept ?? (() => {})
        const no = reject ?? (() => {})
        if (name.startsWith('cancel-')) return this.#reverse.cancel(bind) ? yes() : no()
        return this.#reverse.listen(bind, yes, no)
      },
    )
  }

  /** Frees what the connection has asked for; called by its end, too. */
  async close(): Promise<void> {
    this.#isLost = true
    const freed = [this.#reverse.close(), this.#sockets.close()]
    for (const [channel, lost] of this.#channels) {
      lost()
      this.#closed(channel)
    }
    await Promise.all(freed)
  }

  #answer(answer: () => void): void {
    if (this.#manners.unanswered === undefined) answer()
    else this.#manners.unanswered.push(() => (this.#isLost ? undefined : answer()))
  }

  #session(accept: AcceptConnection<Session>): void {
    const session = accept()
    this.#open(
      session,
      serveSession(this.#connection, session, () => this.#closed(session)),
    )
  }

  #tcp(accept: AcceptConnection<ServerChannel>, reject: () => void, host: string, port: number): void {
    const to = loopback(host, port)
    if ('reason' in to) this.#refuse(reject, to)
    else if (port === HEALTH_PORT) serveHealth(this.#opened(accept()), this.#tally)
    else this.#socket(accept, reject, to)
  }

  #socket(accept: AcceptConnection<ServerChannel>, reject: () => void, to: NetConnectOpts): void {
    const socket = this.#sockets.add(connect({ ...to, noDelay: true, allowHalfOpen: true }))
    const refused = (error: Error): void => this.#refuse(reject, refusalFor(error, to))
    socket.once('error', refused)
    socket.once('connect', () => {
      socket.off('error', refused)
      bridge(this.#opened(accept()), socket)
    })
  }

  #opened(channel: ServerChannel): ServerChannel {
    this.#open(channel, () => {})
    channel.once('close', () => this.#closed(channel))
    return channel
  }

  #open(channel: object, lost: () => void): void {
    this.#channels.set(channel, lost)
    this.#tally.channels += 1
    this.#tally.openChannels += 1
  }

  #closed(channel: object): void {
    if (this.#channels.delete(channel)) this.#tally.openChannels -= 1
  }
}
