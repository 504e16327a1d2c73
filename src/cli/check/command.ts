import { type Command, InvalidArgumentError } from 'commander'
import { createTunnelPool } from '../../create-pool.ts'
import { TunnelError } from '../../errors.ts'
import { verboseLogger } from '../logger.ts'
import { addLoginOptions } from '../login-options.ts'
import { runTasks } from './run.ts'
import { adviceOf, lineOf, tableOf } from './show.ts'
import { readTargetsFile } from './targets-file.ts'
import { type TaskWords, taskOf } from './task.ts'

interface Options extends TaskWords {
  readonly file?: string
  readonly timeout: number
  readonly concurrency: number
  readonly json?: true
  readonly verbose?: true
}

/** Where a command's output goes, and how. */
export interface Terminal {
  readonly isLive: boolean
  readonly isColoured: boolean
  readonly width: number
  readonly write: (text: string) => void
  readonly progress: (text: string) => void
}

const FAILED = 1
const USAGE = 2

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a positive number')
  return value
}

async function check(logins: readonly string[], options: Options, command: Command, terminal: Terminal): Promise<number> {
  const tasks = logins.map((login) => taskOf(login, options))
  if (options.file !== undefined) tasks.push(...(await readTargetsFile(options.file, options)))
  if (tasks.length === 0) command.error('error: name at least one target, or a file of them with --file', { exitCode: USAGE })
  const timeoutMillis = options.timeout * 1_000
  const pool = createTunnelPool({
    acquireTimeoutMillis: timeoutMillis,
    openTimeoutMillis: timeoutMillis,
    channelTimeoutMillis: timeoutMillis,
    logger: options.verbose ? await verboseLogger() : undefined,
  })
  let done = 0
  try {
    // Both before the clock runs: a bad option is told before any host is asked, and loading the library is no host's slowness.
    for (const { target } of tasks) pool.health(target)
    await import('ssh2')
    const outcomes = await runTasks(pool, tasks, {
      timeoutMillis,
      concurrency: options.concurrency,
      told: (outcome) => {
        done += 1
        if (options.json) return
        if (terminal.isLive) terminal.progress(`${done} of ${tasks.length} checked`)
        else terminal.write(`${lineOf(outcome, false)}\n`)
      },
    })
    if (options.json) terminal.write(`${JSON.stringify(outcomes, undefined, 2)}\n`)
    else {
      if (terminal.isLive) terminal.write(`${await tableOf(outcomes, terminal.width, terminal.isColoured)}\n`)
      for (const line of adviceOf(outcomes)) terminal.write(`\n${line}\n`)
    }
    return outcomes.every(({ ok }) => ok) ? 0 : FAILED
  } finally {
    await pool.close({ timeoutMillis: 0 })
  }
}

/** Adds `warren check`. Exit codes: 0 all healthy, 1 a check failed, 2 usage. */
export function addCheck(program: Command, terminal: Terminal): void {
  const named = program
    .command('check')
    .description('checks hosts once: the SSH round trip, or an HTTP path through the tunnel')
    .argument('[targets...]', '[user@]host[:port], an IPv6 address in brackets')
    .option(
      '--file <targets.yaml>',
      'more targets: `targets:` is a list of logins or of maps with `host` and the options below, `defaults:` is for all',
    )
  addLoginOptions(named)
    .option('--to <port>', 'what to connect to as seen from the host: a port, host:port or the path of a unix socket')
    .option('--path <path>', 'HTTP path to ask for; without it (and --to) the SSH round trip alone')
    .option('--expect <status>', 'healthy statuses, such as 200 or 200-299 (default: 200-399)')
    .option('--timeout <seconds>', 'for one check, all in', positive, 10)
    .option('--concurrency <n>', 'checks at once', positive, 64)
    .option('--json', 'outcomes as JSON')
    .option('-v, --verbose', 'every fact of the pool on standard error, as it happens')
    .addHelpText(
      'after',
      '\nExit code: 0 all healthy, 1 a check failed, 2 usage.\nExample: warren check ubuntu@10.0.0.7 --identity ~/.ssh/id_ed25519 --to 10998 --path /api/healthcheck',
    )
    .action(async (logins: string[], options: Options, command: Command) => {
      try {
        process.exitCode = await check(logins, options, command, terminal)
      } catch (error) {
        const isUsage =
          error instanceof InvalidArgumentError ||
          (TunnelError.is(error) && ['ERR_INVALID_OPTION', 'ERR_UNSUPPORTED'].includes(error.code))
        if (!isUsage) throw error
        command.error(`error: ${(error as Error).message}`, { exitCode: USAGE })
      }
    })
}
