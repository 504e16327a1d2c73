import type { Socket } from 'node:net'
import ssh2, { type Connection } from 'ssh2'
import { type KeyPair, makeKeyPair } from './keys.ts'
import { Login, type Manners } from './login.ts'
import type { Tally } from './tally.ts'
import type { Wire } from './wire.ts'

/** A name by which clients expect of it what OpenSSH can do. */
const IDENT = 'OpenSSH_9.2p1 warren-fleet'
/** sshd asks nobody whether they are alive; ssh2 does, unless the interval is longer than anyone waits. */
const NEVER_MILLIS = 2 ** 31 - 1

/** The SSH server of one host, on connections that are given to it. */
export class Daemon {
  hostKey: KeyPair = makeKeyPair()
  readonly #manners: Manners = { rejectsAuth: false, unanswered: undefined }
  readonly #tally: Tally
  readonly #logins = new Set<Login>()
  #server: ssh2.Server | undefined

  constructor(tally: Tally) {
    this.#tally = tally
  }

  serve(wire: Wire): void {
    // Made when it is first needed: most hosts of a large fleet wait for long.
    this.#server ??= this.#start()
    // Of a socket ssh2 uses no more than a stream has.
    this.#server.injectSocket(wire as unknown as Socket)
  }

  /** For connections from now on. */
  rotateHostKey(): void {
    this.hostKey = makeKeyPair()
    this.#server = undefined
  }

  rejectAuth(on: boolean): void {
    this.#manners.rejectsAuth = on
  }

  muteChannels(on: boolean): void {
    const waiting = this.#manners.unanswered ?? []
    this.#manners.unanswered = on ? waiting : undefined
    if (!on) for (const answer of waiting) answer()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#logins].map((login) => login.close()))
  }

  #start(): ssh2.Server {
    const config = { hostKeys: [this.hostKey.private], ident: IDENT, keepaliveInterval: NEVER_MILLIS }
    return new ssh2.Server(config, (connection: Connection) => {
      const login = new Login(connection, this.#manners, this.#tally)
      this.#logins.add(login)
      connection.once('close', () => this.#logins.delete(login))
    })
  }
}
