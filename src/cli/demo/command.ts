import { type Command, Option } from 'commander'
import type { TransportName } from '../../api/target.ts'
import type { Terminal } from '../check/command.ts'
import { verboseLogger } from '../logger.ts'

interface Options {
  readonly seconds: string
  readonly transport: TransportName
  readonly plain?: true
  readonly verbose?: true
}

/** Adds `warren demo`. Exit code 1 if anything is left when it is over. */
export function addDemo(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description('25 embedded SSH hosts are checked through a pool while things go wrong; then an audit of what is left')
    .option('--seconds <n>', 'how long', '12')
    .addOption(
      new Option('--transport <name>', 'in this process, or by a child ssh each').choices(['ssh2', 'openssh']).default('ssh2'),
    )
    .option('-v, --verbose', 'every fact of the pool on standard error, as it happens')
    .option('--plain', 'lines instead of a live table, as without a terminal')
    .action(async ({ seconds, transport, plain, verbose }: Options, command: Command) => {
      const length = Number(seconds)
      if (!(length > 0 && length <= 3_600))
        command.error(`error: --seconds must be between 0 and 3600, got ${seconds}`, { exitCode: 2 })
      const { runDemo } = await import('./demo.ts')
      const { isLive, isColoured, write } = terminal
      process.exitCode = await runDemo({
        seconds: length,
        transport,
        isLive: isLive && plain !== true,
        isColoured,
        write,
        logger: verbose ? await verboseLogger() : undefined,
      })
    })
}
