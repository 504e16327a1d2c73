import { type Command, InvalidArgumentError } from 'commander'
import { TunnelError } from '../../errors.ts'
import type { Terminal } from '../check/command.ts'
import { readTargetsFile } from '../check/targets-file.ts'
import { type TaskWords, taskOf } from '../check/task.ts'
import { verboseLogger } from '../logger.ts'
import { addLoginOptions, several } from '../login-options.ts'
import { runWatch } from './run.ts'

interface Options extends TaskWords {
  readonly target?: readonly string[]
  readonly interval: number
  readonly timeout?: number
  readonly seconds?: number
  readonly inspect?: number | true
  readonly metrics?: number
  readonly json?: true
  readonly plain?: true
  readonly verbose?: true
}

const USAGE = 2

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a positive number')
  return value
}

function port(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('expected a port')
  return value
}

/** Aborts at the first signal, and when the time is up; a second signal ends the process as if nobody had listened. */
function untilTold(seconds: number | undefined): AbortSignal {
  const controller = new AbortController()
  const names = ['SIGINT', 'SIGTERM'] as const
  const end = () => {
    for (const name of names) process.off(name, end)
    clearTimeout(timer)
    controller.abort()
  }
  const timer = seconds === undefined ? undefined : setTimeout(end, seconds * 1_000)
  for (const name of names) process.on(name, end)
  return controller.signal
}

async function watch(file: string | undefined, options: Options, command: Command, terminal: Terminal): Promise<number> {
  const tasks = (options.target ?? []).map((login) => taskOf(login, options))
  if (file !== undefined) tasks.push(...(await readTargetsFile(file, options)))
  if (tasks.length === 0) command.error('error: name a file of targets, or a --target', { exitCode: USAGE })
  const { interval, timeout, inspect, metrics, seconds, json, plain, verbose } = options
  return await runWatch(
    {
      tasks,
      intervalMillis: interval * 1_000,
      timeoutMillis: timeout === undefined ? undefined : timeout * 1_000,
      pool: { maxTunnels: Math.max(100, 2 * tasks.length), logger: verbose ? await verboseLogger() : undefined },
      inspect: inspect === true ? 0 : inspect,
      metrics,
      isJson: json === true,
      isPlain: plain === true,
      signal: untilTold(seconds),
    },
    terminal,
  )
}

/** Adds `warren watch`. Exit codes: 0 all healthy at the end, 1 something was not, 2 usage. */
export function addWatch(program: Command, terminal: Terminal): void {
  const named = program
    .command('watch')
    .description('checks hosts again and again through tunnels that stay, and tells who is healthy')
    .argument('[targets.yaml]', 'as for `check --file`: `targets:` is a list, `defaults:` is for all')
    .option('--target <login>', '[user@]host[:port]; repeat for several', several)
  addLoginOptions(named)
    .option('--to <port>', 'what to connect to as seen from the host: a port, host:port or the path of a unix socket')
    .option('--path <path>', 'HTTP path to ask for; without it (and --to) the SSH round trip alone')
    .option('--expect <status>', 'healthy statuses, such as 200 or 200-299 (default: 200-399)')
    .option('--interval <seconds>', 'between two checks of one target', positive, 4)
    .option('--timeout <seconds>', 'for one check (default: the smaller of the interval and 3)', positive)
    .option('--seconds <n>', 'how long; without it until a signal comes', positive)
    .option('--inspect [port]', 'serve the inspector page on 127.0.0.1', port)
    .option('--metrics <port>', 'serve metrics for Prometheus at http://127.0.0.1:<port>/metrics (needs prom-client)', port)
    .option('--plain', 'lines instead of a live table, as without a terminal')
    .option('--json', 'each check as a JSON object a line')
    .option('-v, --verbose', 'every fact of the pool on standard error, as it happens')
    .addHelpText(
      'after',
      '\nExit code: 0 all healthy at the end, 1 something was not, 2 usage.\nExample: warren watch targets.yaml --interval 4 --inspect 7070',
    )
    .action(async (file: string | undefined, options: Options, command: Command) => {
      try {
        process.exitCode = await watch(file, options, command, terminal)
      } catch (error) {
        if (!(error instanceof InvalidArgumentError) && !TunnelError.is(error)) throw error
        command.error(`error: ${(error as Error).message}`, { exitCode: USAGE })
      }
    })
}
