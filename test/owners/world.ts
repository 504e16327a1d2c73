import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/clock.ts'
import { RuntimeDirectory } from '../../src/owners/directory/runtime-directory.ts'
import { type Swept, sweep } from '../../src/owners/directory/sweep.ts'
import { Ledger } from '../../src/owners/ledger.ts'
import { Scope } from '../../src/owners/scope.ts'
import { spawnFixture, typescript } from '../support/child.ts'
import { Program } from './program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A place of one test's own, and what the test makes: given back by `end`. */
export class World {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'w-test-')))
  readonly ledger = new Ledger()
  readonly #programs: Program[] = []

  scope(owner = 'pool'): Scope {
    return new Scope(this.ledger, owner)
  }

  runtime(scope: Scope, base = this.base): RuntimeDirectory {
    return new RuntimeDirectory({ base, scope, clock: systemClock })
  }

  sweep(base = this.base, signal = new AbortController().signal): Promise<Swept> {
    return sweep({ base, signal, clock: systemClock, scope: this.scope('sweep') })
  }

  /** Starts `fixtures/<name>`; `before` are words in front of node, such as prlimit's. */
  start(name: string, args: readonly string[], before: readonly string[] = []): Program {
    const loader = name.endsWith('.ts') ? typescript : []
    const [file = '', ...rest] = [...before, process.execPath, ...loader, join(ROOT, 'test/owners/fixtures', name), ...args]
    const program = new Program(spawnFixture(file, rest, ['pipe', 'pipe', 'pipe']))
    this.#programs.push(program)
    return program
  }

  /** Directories of pools whose process was killed. */
  async dead(count: number, base = this.base): Promise<string[]> {
    const program = this.start('pool.ts', [base, 'stay', String(count)])
    const paths: string[] = []
    for (let line = await program.line(); line !== 'open'; line = await program.line()) paths.push(dirname(line))
    await program.kill()
    return paths
  }

  async end(): Promise<void> {
    for (const program of this.#programs) await program.kill()
    rmSync(this.base, { recursive: true, force: true })
    assert.deepEqual(this.ledger.entries(), [], 'still in the ledger')
  }
}
