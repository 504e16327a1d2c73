import type { ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Target } from '../../src/api/target.ts'
import { Door } from '../../src/testing/door.ts'
import { type KeyPair, makeKeyPair } from '../../src/testing/keys.ts'
import { type HeldPort, holdPort } from '../../src/testing/port.ts'
import { descendantsOf } from '../../src/testing/proc.ts'
import { exited, hasExited, spawnFixture } from './child.ts'
import { type SshdConfig, sshdConfig } from './sshd-config.ts'
import { until } from './until.ts'

const SSHD = '/usr/sbin/sshd'
const START_MILLIS = 5_000
const LOG_CHARACTERS = 256 * 1024

/** What a test may ask of a private sshd. */
export interface SshdOptions {
  /** Keywords of sshd_config; a list repeats the line. */
  config?: SshdConfig
}

/** SSHD of the fault catalogue: OpenSSH's server on a port, with keys and a directory of its own. It dies with the test process. */
export class Sshd implements AsyncDisposable {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly user = userInfo().username
  readonly directory: string
  /** The only key it lets in; no passphrase. */
  readonly keyPath: string
  /** Pins the key the server was first started with. */
  readonly target: Target
  #hostKey: KeyPair
  readonly #config: SshdConfig
  readonly #log: string
  #held: HeldPort | undefined
  #child: ChildProcess | undefined

  private constructor(directory: string, port: number, hostKey: KeyPair, config: SshdConfig) {
    this.directory = directory
    this.port = port
    this.keyPath = join(directory, 'client_key')
    this.#log = join(directory, 'log')
    this.#hostKey = hostKey
    this.#config = config
    this.#held = holdPort(port)
    this.target = {
      host: this.host,
      port,
      user: this.user,
      identity: { path: this.keyPath },
      hostKey: { pinned: hostKey.fingerprint },
    }
  }

  /** Starts one on a free port. A machine without sshd is an error, never a skipped test. */
  static async start(options: SshdOptions = {}): Promise<Sshd> {
    if (!existsSync(SSHD)) throw new Error(`${SSHD} is missing: run .ci/sshd.sh, or apt-get install openssh-server`)
    // Refuses to start without it, and a bare machine lacks it.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    const directory = await mkdtemp(join(tmpdir(), 'sshd-'))
    const door = await Door.open((socket) => socket.destroy())
    const { port } = door
    void door.close()
    const sshd = new Sshd(directory, port, makeKeyPair(), options.config ?? {})
    try {
      const client = makeKeyPair()
      await writeFile(sshd.keyPath, client.private, { mode: 0o600 })
      await writeFile(join(directory, 'authorized_keys'), `${client.public}\n`)
      await sshd.#writeHostKey()
      await sshd.start()
      return sshd
    } catch (error) {
      await sshd.close()
      throw error
    }
  }

  /** `SHA256:…` of the key that new connections meet. */
  get fingerprint(): string {
    return this.#hostKey.fingerprint
  }

  /** `ssh-ed25519 AAAA…` of the key that new connections meet. */
  get hostKeyLine(): string {
    return this.#hostKey.public
  }

  /** What the server has said, the latest last; bounded. */
  log(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').slice(-LOG_CHARACTERS) : ''
  }

  /** The processes that serve connections, before and after their login. */
  sessions(): number[] {
    const pid = this.#child?.pid
    return pid === undefined ? [] : descendantsOf(pid).flatMap((entry) => (entry.isZombie ? [] : [entry.pid]))
  }

  killSessions(signal: NodeJS.Signals = 'SIGKILL'): void {
    for (const pid of this.sessions()) kill(pid, signal)
  }

  /** Listens again after `stop`, on the same port. */
  async start(): Promise<void> {
    if (this.#child !== undefined && !hasExited(this.#child)) return
    const config = join(this.directory, 'config')
    await writeFile(config, sshdConfig(this.#config, this))
    const said = this.log().length
    const log = openSync(this.#log, 'a')
    this.#child = spawnFixture(SSHD, ['-D', '-e', '-f', config], ['ignore', 'ignore', log])
    closeSync(log)
    await this.#listening(said)
    await this.#held?.release()
    this.#held = undefined
  }

  /** Ends the server and every session; the port stays ours, and connects to it are refused. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined || hasExited(child)) return
    // Stopped first, so that it forks no session that is not counted here.
    child.kill('SIGSTOP')
    const sessions = this.sessions()
    child.kill(signal)
    child.kill('SIGCONT')
    for (const pid of sessions) kill(pid, 'SIGKILL')
    await exited(child)
    this.#held = holdPort(this.port)
    await until(() => sessions.every((pid) => !isAlive(pid)), { what: 'the sessions are gone' })
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** New connections meet another host key; present ones go on. */
  async rotateHostKey(): Promise<void> {
    this.#hostKey = makeKeyPair()
    await this.#writeHostKey()
    const said = this.log().length
    this.#child?.kill('SIGHUP')
    await this.#listening(said)
  }

  /** Frees everything. Idempotent. */
  async close(): Promise<void> {
    await this.stop('SIGKILL')
    await this.#held?.release()
    this.#held = undefined
    await rm(this.directory, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #writeHostKey(): Promise<void> {
    return writeFile(join(this.directory, 'host_key'), this.#hostKey.private, { mode: 0o600 })
  }

  async #listening(from: number): Promise<void> {
    const child = this.#child
    await until(
      () => {
        if (child === undefined || hasExited(child)) throw new Error(`sshd has ended: ${this.log()}`)
        return this.log().slice(from).includes(`Server listening on 127.0.0.1 port ${this.port}.`)
      },
      { within: START_MILLIS, what: `sshd listens on port ${this.port}` },
    )
  }
}

/** Starts a private sshd. */
export function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  return Sshd.start(options)
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}
