import type { ChildProcess } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { exited, spawnFixture, typescript } from '../support/child.ts'
import { until } from '../support/until.ts'

/** Waiting for another process to be loaded, on a machine that is busy. */
const START = { within: 15_000 }

/** A program of fixtures/ in a process of its own, line by line. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcess
  readonly #reader: Interface
  readonly #lines: string[] = []

  constructor(name: string, args: readonly string[]) {
    const path = fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
    this.child = spawnFixture(process.execPath, [...typescript, path, ...args], ['pipe', 'pipe', 'inherit'])
    if (this.child.stdout === null) throw new Error('no stdout')
    this.#reader = createInterface({ input: this.child.stdout }).on('line', (line) => this.#lines.push(line))
  }

  /** The next line it prints. */
  async line(): Promise<string> {
    return (await until(() => this.#lines.shift(), START)) ?? ''
  }

  tell(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await exited(this.child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    this.#reader.close()
  }
}
