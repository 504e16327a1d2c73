import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Target } from '../../src/api/target.ts'
import { exited, hasExited, spawnFixture, typescript } from '../support/child.ts'

const FILE = fileURLToPath(new URL('fixtures/script.ts', import.meta.url))

/** A process that uses a pool in one of the ways of fixtures/script.ts, with a runtime base of its own. */
export class Script implements AsyncDisposable {
  readonly base: string
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  stderr = ''

  private constructor(child: ChildProcess, base: string) {
    this.base = base
    this.#child = child
    assert.ok(child.stdout && child.stderr)
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
  }

  static async start(mode: string, target: Target): Promise<Script> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'pool-test-')))
    const args = [...typescript, FILE, mode, base, JSON.stringify(target)]
    return new Script(spawnFixture(process.execPath, args, ['ignore', 'pipe', 'pipe']), base)
  }

  /** The next line that it says. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    return done ? assert.fail(`it has ended: ${this.stderr}`) : value
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  get hasEnded(): boolean {
    return hasExited(this.#child)
  }

  /** Its exit code or the signal that ended it, once it has. */
  async end(): Promise<number | NodeJS.Signals | null> {
    await exited(this.#child)
    return this.#child.exitCode ?? this.#child.signalCode
  }

  /** What is in the runtime base. */
  files(): Promise<string[]> {
    return readdir(this.base, { recursive: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) {
      this.#child.kill('SIGKILL')
      await once(this.#child, 'exit')
    }
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    await rm(this.base, { recursive: true, force: true })
  }
}
