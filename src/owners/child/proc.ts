import { readdirSync, readFileSync } from 'node:fs'

/** A process as /proc tells it. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly isZombie: boolean
  /** Clock ticks after boot: a pid is used again, not together with this. */
  readonly startTime: string
}

/** Whether this system tells of its processes in files: Linux does. */
export const hasProc = process.platform === 'linux'

/** One process; `undefined` when there is none (any more). Throws only for want of a descriptor. */
export function entryOf(pid: number | string): ProcessEntry | undefined {
  const stat = readProc(`/proc/${pid}/stat`)
  // The program's name may hold spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined || fields.length < 20) return undefined
  const [state, parent, group, session] = fields
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    isZombie: state === 'Z' || state === 'X',
    startTime: fields[19] ?? '',
  }
}

/** Every process there is. Throws for want of a descriptor. */
export function* allProcesses(): Iterable<ProcessEntry> {
  for (const name of readdirSync('/proc')) {
    const entry = /^\d+$/.test(name) ? entryOf(name) : undefined
    if (entry !== undefined) yield entry
  }
}

/** Its children, as the kernel lists them; empty when it does not. */
export function childrenOf(pid: number): number[] {
  const list = readProc(`/proc/${pid}/task/${pid}/children`)
  return list === undefined || list.trim() === '' ? [] : list.trim().split(/\s+/).map(Number)
}

/** Words of its command line; empty for a zombie. */
export function argumentsOf(pid: number): string[] {
  const line = readProc(`/proc/${pid}/cmdline`) ?? ''
  return line === '' ? [] : line.replace(/\0$/, '').split('\0')
}

const GONE: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH', 'ENOTDIR', 'EACCES', 'EPERM'])

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.has(error.code)) return undefined
    throw error
  }
}
