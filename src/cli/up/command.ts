import { type Command, InvalidArgumentError } from 'commander'
import { TunnelError } from '../../errors.ts'
import type { Terminal } from '../check/command.ts'
import { type TaskWords, taskOf } from '../check/task.ts'
import { verboseLogger } from '../logger.ts'
import { addLoginOptions, several } from '../login-options.ts'
import { readDynamic, readLocal, readReverse } from './endpoint.ts'
import { type News, runUp } from './run.ts'

interface Options extends TaskWords {
  readonly local?: readonly string[]
  readonly reverse?: readonly string[]
  readonly dynamic?: readonly string[]
  readonly insecure?: true
  readonly keepAlive: number
  readonly json?: true
  readonly verbose?: true
}

const USAGE = 2

function seconds(text: string): number {
  const value = Number(text)
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a positive number of seconds')
  return value
}

async function up(login: string, options: Options, command: Command, { write }: Terminal): Promise<number> {
  const { local = [], reverse = [], dynamic = [], keepAlive, json, verbose } = options
  const specs = [
    ...local.map(readLocal),
    ...reverse.map(readReverse),
    ...dynamic.map((text) => readDynamic(text, process.env, options.insecure === true)),
  ]
  if (specs.length === 0) command.error('error: name at least one endpoint with -L, -R or -D', { exitCode: USAGE })
  const tell = (news: News) =>
    write(json ? `${JSON.stringify({ at: new Date().toISOString(), ...news })}\n` : `${new Date().toISOString()}  ${news.text}\n`)
  const pool = { keepAliveIntervalMillis: keepAlive * 1_000, logger: verbose ? await verboseLogger() : undefined }
  return await runUp({ target: taskOf(login, options).target, specs, pool, tell })
}

/** Adds `warren up`. Exit codes: 0 ended by a signal, 1 the host is barred, 2 usage. */
export function addUp(program: Command, terminal: Terminal): void {
  const named = program
    .command('up')
    .description(
      'keeps endpoints to a host up, at the same address, however often the connection is lost (what autossh is used for)',
    )
    .argument('<target>', '[user@]host[:port], an IPv6 address in brackets')
    .option(
      '-L, --local <spec>',
      '[host:]port:host:port, unix sockets by their absolute paths: we listen (repeat for several)',
      several,
    )
    .option('-R, --reverse <spec>', 'the same the other way: the server listens', several)
    .option(
      '-D, --dynamic <where>',
      '[host:]port or absolute path: SOCKS5; its login is WARREN_SOCKS_USER and WARREN_SOCKS_PASSWORD',
      several,
    )
    .option('--insecure', 'SOCKS5 on a TCP port without a login: every process of this machine may use it')
  addLoginOptions(named)
    .option('--keep-alive <seconds>', 'a silent host is asked so often, and given up after four times that', seconds, 10)
    .option('--json', 'a JSON object a line')
    .option('-v, --verbose', 'every fact of the pool on standard error, as it happens')
    .addHelpText(
      'after',
      '\nExit code: 0 ended by a signal, 1 the host is barred (its key changed, ours is refused), 2 usage.\nTells systemd when it is ready (Type=notify, NotifyAccess=all).\nExample: warren up ubuntu@10.0.0.7 -L 5432:127.0.0.1:5432 -L /run/api.sock:127.0.0.1:10998',
    )
    .action(async (login: string, options: Options, command: Command) => {
      try {
        process.exitCode = await up(login, options, command, terminal)
      } catch (error) {
        const isUsage = error instanceof InvalidArgumentError || TunnelError.is(error)
        if (!isUsage) throw error
        command.error(`error: ${(error as Error).message}`, { exitCode: USAGE })
      }
    })
}
