import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Program } from '../owners/program.ts'

/** What a run of the command left behind for its caller. */
export interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The command, bundled once as it is packed: starting it from its sources would take most of the time of every test. */
export class Warren {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async build(): Promise<Warren> {
    // Beside the packages that it loads.
    const directory = await mkdtemp(join(process.cwd(), 'node_modules/.warren-cli-'))
    const flags = [
      '--bundle',
      '--splitting',
      '--format=esm',
      '--platform=node',
      '--target=node20',
      '--packages=external',
      '--log-level=error',
    ]
    await promisify(execFile)('node_modules/.bin/esbuild', ['src/cli/main.ts', ...flags, `--outdir=${directory}`])
    return new Warren(directory)
  }

  /** Runs it as a shell would, without a terminal and without a home. */
  run(...args: string[]): Promise<Run> {
    return this.runIn({}, ...args)
  }

  /** The same in surroundings of its own: more environment, and a program that starts it. */
  runIn({ env = {}, by = [] }: { env?: NodeJS.ProcessEnv; by?: readonly string[] }, ...args: string[]): Promise<Run> {
    const whole = { PATH: process.env.PATH, HOME: '/nonexistent', LANG: 'C', ...env }
    const [program = '', ...words] = [...by, process.execPath, join(this.#directory, 'main.js'), ...args]
    return new Promise((resolve) => {
      execFile(program, words, { env: whole, timeout: 30_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
      })
    })
  }

  /** Starts it; it speaks in lines until it is told to end. */
  start(env: NodeJS.ProcessEnv, ...args: string[]): Program {
    const whole = { PATH: process.env.PATH, HOME: '/nonexistent', LANG: 'C', ...env }
    return new Program(spawn(process.execPath, [join(this.#directory, 'main.js'), ...args], { env: whole, stdio: 'pipe' }))
  }

  remove(): Promise<void> {
    return rm(this.#directory, { recursive: true, force: true })
  }
}
