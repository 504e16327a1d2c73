#!/usr/bin/env node
import { Command } from 'commander'
import { addCheck, type Terminal } from './check/command.ts'
import { addCompletion } from './completion/command.ts'
import { addDemo } from './demo/command.ts'
import { addDoctor } from './doctor/command.ts'
import { addReport } from './report/command.ts'
import { addSweep } from './sweep/command.ts'
import { addUp } from './up/command.ts'
import { versionAbove } from './version.ts'
import { addWatch } from './watch/command.ts'

const { stdout, stderr } = process
const isLive = stdout.isTTY === true
const terminal: Terminal = {
  isLive,
  // no-color.org
  isColoured: isLive && (process.env.NO_COLOR ?? '') === '',
  width: stdout.columns ?? 100,
  write: (text) => stdout.write(text),
  progress: (text) => {
    if (stderr.isTTY === true) stderr.write(`\r\u001b[2K${text}`)
  },
}

const program = new Command('warren')
  .description('SSH tunnels for long-running servers: check hosts through them, and see them work')
  .version(versionAbove(import.meta.dirname), '-V, --version', 'prints the version')
  .showHelpAfterError('(--help says what there is)')
// Usage errors are 2; 1 is kept for what a command finds.
program.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
addCheck(program, terminal)
addDemo(program, terminal)
addDoctor(program, terminal)
addReport(program, terminal)
addSweep(program, terminal)
addUp(program, terminal)
addWatch(program, terminal)
addCompletion(program, terminal)
for (const command of program.commands) command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
await program.parseAsync()
