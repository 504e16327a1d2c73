import { styleText } from 'node:util'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { examine } from '../../doctor/examine.ts'
import type { Finding } from '../../doctor/finding.ts'
import { shown } from '../../shown.ts'
import type { Terminal } from '../check/command.ts'

interface Options {
  readonly tunnels: number
  readonly transport: 'ssh2' | 'openssh'
  readonly sshPath?: string
  readonly runtimeDirectory?: string
  readonly knownHosts?: string
  readonly json?: true
}

const LONGEST_MILLIS = 60_000
const MARKS = { well: ['ok', 'green'], note: ['note', 'yellow'], problem: ['FAIL', 'red'] } as const

function count(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('expected a positive integer')
  return value
}

function linesOf({ about, is, what, remedy }: Finding, isColoured: boolean): string {
  const [word, colour] = MARKS[is]
  const mark = word.padEnd(4)
  const line = `${isColoured ? styleText(colour, mark) : mark}  ${about.padEnd(18)} ${shown(what, 400)}\n`
  return remedy === '' ? line : `${line}${' '.repeat(25)}→ ${remedy}\n`
}

/** Adds `warren doctor`. Exit codes: 0 no problem, 1 something will fail, 2 usage. */
export function addDoctor(program: Command, { write, isColoured }: Terminal): void {
  program
    .command('doctor')
    .description('looks at this machine: programs, limits, directories, known hosts, agent; says what to do')
    .option('--tunnels <n>', 'how many are planned', count, 1_000)
    .addOption(new Option('--transport <name>', 'by which').choices(['ssh2', 'openssh']).default('ssh2'))
    .option('--ssh-path <path>', "the pool's option of that name")
    .option('--runtime-directory <path>', "the pool's option of that name")
    .option('--known-hosts <path>', 'the file of known hosts to look at')
    .option('--json', 'findings as JSON')
    .addHelpText('after', '\nExit code: 0 no problem, 1 something will fail, 2 usage. Changes nothing.')
    .action(async ({ tunnels, transport, sshPath, runtimeDirectory, knownHosts, json }: Options) => {
      const signal = AbortSignal.timeout(LONGEST_MILLIS)
      const findings = await examine({ tunnels, transport, sshPath, runtimeDirectory, knownHosts, signal })
      const problems = findings.filter(({ is }) => is === 'problem').length
      if (json) write(`${JSON.stringify(findings, undefined, 2)}\n`)
      else {
        for (const finding of findings) write(linesOf(finding, isColoured))
        write(
          problems === 0 ? '\nNothing stands in the way.\n' : `\n${problems} ${problems === 1 ? 'thing' : 'things'} will fail.\n`,
        )
      }
      process.exitCode = problems === 0 ? 0 : 1
    })
}
