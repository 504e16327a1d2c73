import { lstatSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { OwnedDirectory } from './directory.ts'
import { codeOf } from './disk-error.ts'

/** Which process made a directory, in words that no other process ever has. Unknown parts are empty. */
export interface Born {
  readonly machine: string
  readonly boot: string
  readonly pid: number
  /** Clock ticks after boot: a pid is used again, not together with this. */
  readonly startTime: string
  readonly pidNamespace: string
}

/** The file's name in the pool's directory. */
export const BORN = 'born'
const MOST_BYTES = 4096

/** What there is to say about this process. */
export function ownBirth(): Born {
  // Without a machine id, the host name tells a container from its neighbours on the same volume.
  const machine = read('/etc/machine-id') || read('/var/lib/dbus/machine-id') || `host:${hostname()}`
  return {
    machine,
    boot: read('/proc/sys/kernel/random/boot_id'),
    pid: process.pid,
    startTime: startTime(read('/proc/self/stat')),
    pidNamespace: absentIsEmpty(() => readlinkSync('/proc/self/ns/pid')),
  }
}

/** Writes it (0600) under a passing name first: whoever finds the file finds all of it. */
export function writeBorn(directory: OwnedDirectory): void {
  const passing = directory.claim('b', Number.POSITIVE_INFINITY)
  writeFileSync(passing, `${JSON.stringify(ownBirth())}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(passing, directory.claim(BORN, Number.POSITIVE_INFINITY))
  directory.free(passing)
}

/** Reads what another process wrote; throws what the system says, or that it makes no sense. */
export function readBorn(path: string): Pick<Born, 'machine' | 'boot'> {
  const stats = lstatSync(path)
  if (!stats.isFile() || stats.size > MOST_BYTES) throw new Error(`${path} is not what a pool writes`)
  const born: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (typeof born === 'object' && born !== null && 'machine' in born && 'boot' in born) {
    const { machine, boot } = born
    if (typeof machine === 'string' && typeof boot === 'string' && machine !== '') return { machine, boot }
  }
  throw new Error(`${path} is not what a pool writes`)
}

/** Field 22; the second, the program's name, may hold spaces and parentheses. */
function startTime(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

function read(path: string): string {
  return absentIsEmpty(() => readFileSync(path, 'utf8').trim())
}

function absentIsEmpty(fn: () => string): string {
  try {
    return fn()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return ''
    throw error
  }
}
