import type { Command } from 'commander'
import { TunnelError } from '../../errors.ts'
import type { ShownReport } from '../../observe/shown-report.ts'
import { type Asked, askPools } from '../../report.ts'
import { shown } from '../../shown.ts'
import type { Terminal } from '../check/command.ts'

const LONGEST_MILLIS = 10_000
const MOST_LINES = 50

const counts = (numbers: Readonly<Record<string, number>>): string =>
  Object.entries(numbers)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'none'

const age = (since: string) => `${Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1_000))} s`

function linesOf({ pid, upSeconds, stats, tunnels, leases, waiting, unreaped, counts: totals }: ShownReport): string[] {
  const lines = [
    `pid ${pid}, up ${upSeconds} s`,
    `  destinations  ${counts(stats.destinations)}`,
    `  tunnels       ${counts(stats.tunnels)}; ${stats.opened} opened, ${stats.closed} closed (${stats.lost} lost), ${stats.failed} dials failed`,
    `  leases        ${totals.leases} out, ${totals.waiting} waiting${unreaped > 0 ? `; ${unreaped} zombies that only init can reap` : ''}`,
  ]
  const details = [
    ...tunnels
      .filter(({ state, why }) => state !== 'open' || why?.startsWith('stuck') === true)
      .map(
        ({ destination, label, generation, state, since, why }) =>
          `  ${destination} ${label ?? ''} #${generation} ${state} ${age(since)} ${why ?? ''}`,
      ),
    ...leases.map(
      ({ destination, generation, label, id, since }) =>
        `  lease ${label ?? id} on ${destination} #${generation} for ${age(since)}`,
    ),
    ...waiting.map((one) => `  waiting for ${one.for} on ${one.destination} for ${age(one.since)}`),
  ]
  return [
    ...lines,
    ...details.slice(0, MOST_LINES),
    ...(details.length > MOST_LINES ? [`  … ${details.length - MOST_LINES} more: --json`] : []),
  ]
}

const NOBODY =
  'No pool of this user has a runtime directory here. A pool makes one for its first unix socket without a path of yours, or for openssh.\n'

function write(asked: readonly Asked[], say: (text: string) => void): void {
  if (asked.length === 0) say(NOBODY)
  for (const { path, report } of asked) {
    if (report === undefined) say(`${path}: no answer (busy, stopped or dead: see \`warren sweep\`)\n`)
    else for (const line of linesOf(report)) say(`${line.startsWith('  ') ? '  ' : ''}${shown(line)}\n`)
  }
}

/** Adds `warren report`. Exit codes: 0 all that were asked answered, 1 none did or one did not, 2 usage. */
export function addReport(program: Command, terminal: Terminal): void {
  program
    .command('report')
    .description('asks the running pools of this user how they are: states, leases, who waits; nothing is changed')
    .option('--runtime-directory <path>', "the pools' option of that name (default: as there)")
    .option('--json', 'everything they said, as JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 all answered, 1 one did not or there is none, 2 usage. A pool has a runtime directory once it has made a unix socket, or used openssh.',
    )
    .action(async ({ runtimeDirectory, json }: { runtimeDirectory?: string; json?: true }, command: Command) => {
      try {
        const asked = await askPools(runtimeDirectory, AbortSignal.timeout(LONGEST_MILLIS))
        if (json) terminal.write(`${JSON.stringify(asked, undefined, 2)}\n`)
        else write(asked, terminal.write)
        process.exitCode = asked.length > 0 && asked.every(({ report }) => report !== undefined) ? 0 : 1
      } catch (error) {
        if (!TunnelError.is(error)) throw error
        command.error(`error: ${error.message}`, { exitCode: 2 })
      }
    })
}
