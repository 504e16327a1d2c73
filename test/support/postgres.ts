import type { ChildProcess } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { exited, hasExited, spawnFixture } from './child.ts'
import { run } from './run.ts'
import { until } from './until.ts'

const DEBIAN = '/usr/lib/postgresql'
/** It refuses to run as root; nobody owns nothing else. */
const NOBODY = 65_534
const START_MILLIS = 15_000
/** Nothing here has to survive the machine. */
const HASTE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'shared_buffers=8MB', 'max_connections=20']

function binary(name: string): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : []
  const found = [...versions.sort().reverse(), ...(process.env.PATH ?? '').split(delimiter)].find((directory) =>
    existsSync(join(directory, name)),
  )
  if (found === undefined) throw new Error(`${name} is missing: run .ci/postgresql.sh, or apt-get install postgresql`)
  return join(found, name)
}

const asNobody = (file: string, args: readonly string[]): [file: string, args: string[]] =>
  process.getuid?.() === 0
    ? ['/usr/bin/setpriv', ['--reuid', `${NOBODY}`, '--regid', `${NOBODY}`, '--clear-groups', file, ...args]]
    : [file, [...args]]

/** A private PostgreSQL, which listens on a unix socket alone and lets everybody in who can reach that. It dies with the test process. */
export class Postgres implements AsyncDisposable {
  readonly directory: string
  readonly socketPath: string
  readonly user = 'postgres'
  readonly #child: ChildProcess
  #said = ''

  private constructor(directory: string, child: ChildProcess) {
    this.directory = directory
    this.socketPath = join(directory, '.s.PGSQL.5432')
    this.#child = child
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-64 * 1024)
    })
  }

  /** Makes a cluster and starts it. A machine without PostgreSQL is an error, never a skipped test. */
  static async start(): Promise<Postgres> {
    const directory = await mkdtemp(join(tmpdir(), 'pg-'))
    if (process.getuid?.() === 0) chownSync(directory, NOBODY, NOBODY)
    const data = join(directory, 'data')
    try {
      const make = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
      const made = await run(...asNobody(binary('initdb'), make))
      if (made.code !== 0) throw new Error(`initdb: ${made.stderr}`)
      const options = [...HASTE, 'listen_addresses=', `unix_socket_directories=${directory}`].flatMap((option) => ['-c', option])
      const child = spawnFixture(...asNobody(binary('postgres'), ['-D', data, ...options]), ['ignore', 'ignore', 'pipe'])
      const postgres = new Postgres(directory, child)
      await postgres.#ready()
      return postgres
    } catch (error) {
      await rm(directory, { recursive: true, force: true })
      throw error
    }
  }

  async #ready(): Promise<void> {
    await until(
      () => {
        if (hasExited(this.#child)) throw new Error(`postgres has ended: ${this.#said}`)
        return this.#said.includes('ready to accept connections')
      },
      { within: START_MILLIS, what: 'postgres is ready' },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // At once, without waiting for clients.
    this.#child.kill('SIGQUIT')
    await exited(this.#child)
    this.#child.stderr?.destroy()
    await rm(this.directory, { recursive: true, force: true })
  }
}
