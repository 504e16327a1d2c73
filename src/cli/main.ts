#!/usr/bin/env node
import { Command } from 'commander'

const { stdout } = process
const isTerminal = stdout.isTTY === true
/** no-color.org */
const isColoured = isTerminal && (process.env.NO_COLOR ?? '') === ''

const program = new Command('warren')
  .description('SSH tunnels for long-running servers: see them work, and check hosts through them')
  .showHelpAfterError()

program
  .command('demo')
  .description('25 embedded SSH hosts are checked through a pool while things go wrong; then an audit of what is left')
  .option('--seconds <n>', 'how long', '12')
  .option('--plain', 'lines instead of a live table, as without a terminal')
  .action(async ({ seconds, plain }: { seconds: string; plain?: true }, command: Command) => {
    const length = Number(seconds)
    if (!(length > 0 && length <= 3_600))
      command.error(`error: --seconds must be between 0 and 3600, got ${seconds}`, { exitCode: 2 })
    const { runDemo } = await import('./demo/demo.ts')
    process.exitCode = await runDemo({
      seconds: length,
      isLive: isTerminal && plain !== true,
      isColoured,
      write: (text) => stdout.write(text),
    })
  })

await program.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2)).parseAsync()
