import type { Command } from 'commander'
import { TunnelError } from '../../errors.ts'
import { look, sweepNow } from '../../sweep.ts'
import type { Terminal } from '../check/command.ts'

interface Options {
  readonly runtimeDirectory?: string
  readonly remove?: true
  readonly json?: true
}

const LONGEST_MILLIS = 60_000

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

async function sweep({ runtimeDirectory, remove, json }: Options, { write }: Terminal): Promise<number> {
  const sweeping = { runtimeDirectory, signal: AbortSignal.timeout(LONGEST_MILLIS) }
  const swept = remove ? await sweepNow(sweeping) : undefined
  const { dead, leftAlone } = swept === undefined ? await look(sweeping) : { dead: [], leftAlone: swept.leftAlone }
  if (json) {
    write(`${JSON.stringify({ dead, leftAlone, removed: swept ?? null }, undefined, 2)}\n`)
  } else {
    for (const path of dead) write(`dead        ${path}\n`)
    for (const line of leftAlone) write(`left alone  ${line}\n`)
    if (swept !== undefined) {
      const processes = counted(swept.processes, 'process', 'processes')
      write(`Removed ${counted(swept.directories, 'directory', 'directories')}, ended ${processes}.\n`)
    } else if (dead.length > 0)
      write(`${counted(dead.length, 'dead pool', 'dead pools')} left something; remove it with --remove.\n`)
    else write('Nothing is left of dead pools.\n')
  }
  return dead.length > 0 && swept === undefined ? 1 : 0
}

/** Adds `warren sweep`. Exit codes: 0 nothing is left, 1 something is (listed only), 2 usage or a base that cannot be used. */
export function addSweep(program: Command, terminal: Terminal): void {
  program
    .command('sweep')
    .description('lists, or removes, what pools left whose process was killed; a living one is never touched')
    .option('--remove', 'end their processes and remove their directories')
    .option('--runtime-directory <path>', "the pools' option of that name (default: as there)")
    .option('--json', 'findings as JSON')
    .addHelpText('after', '\nExit code: 0 nothing is left, 1 something is, 2 usage. A pool sweeps by itself at its first use.')
    .action(async (options: Options, command: Command) => {
      try {
        process.exitCode = await sweep(options, terminal)
      } catch (error) {
        if (!TunnelError.is(error)) throw error
        command.error(`error: ${error.message}`, { exitCode: 2 })
      }
    })
}
