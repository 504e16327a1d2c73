import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { exited, hasExited } from '../support/child.ts'
import { until } from '../support/until.ts'

/** A process of a fixture, which speaks in lines. */
export class Program {
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly #said: string[] = []
  readonly #exited: Promise<void>
  #isClosed = false
  stderr = ''

  constructor(child: ChildProcess) {
    this.#child = child
    assert.ok(child.stdout && child.stderr && child.stdin)
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    child.stdin.on('error', () => {})
    this.#lines = createInterface({ input: child.stdout }).on('line', (line) => this.#said.push(line))
    this.#exited = once(this.#lines, 'close').then(() => {
      this.#isClosed = true
      return exited(child)
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** The next line that it says. */
  async line(within = 10_000): Promise<string> {
    await until(() => this.#said.length > 0 || this.#isClosed, { within, what: 'a line' })
    return this.#said.shift() ?? assert.fail(`it has ended: ${this.stderr}`)
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Its exit code, once it has ended by itself. */
  async exit(): Promise<number | null> {
    await this.#exited
    return this.#child.exitCode
  }

  async kill(): Promise<void> {
    if (!hasExited(this.#child)) this.#child.kill('SIGKILL')
    await this.#exited
  }
}
