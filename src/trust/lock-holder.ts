import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Born, ownBirth } from '../owners/directory/born.ts'
import { codeOf } from '../owners/directory/disk-error.ts'

/** A lock is held for milliseconds. One that says nothing: its holder died while writing it, or is writing now. */
const LONGEST_WRITING_MILLIS = 2_000
/** One of a machine or a container whose processes cannot be seen from here. */
const LONGEST_UNSEEN_MILLIS = 60_000

let own: Born | undefined
const here = (): Born => {
  own ??= ownBirth()
  return own
}

/** What a lock says about the process that holds it, and which lock it is. */
export function holderText(): string {
  return `${JSON.stringify({ ...here(), lock: randomUUID() })}\n`
}

/** Whether the process that wrote this text, `ageMillis` ago, will never remove its lock. In doubt it will. */
export function isAbandoned(text: string, ageMillis: number): boolean {
  const holder = read(text)
  if (holder === undefined) return ageMillis > LONGEST_WRITING_MILLIS
  const { machine, boot, pidNamespace } = here()
  if (holder.machine !== machine) return ageMillis > LONGEST_UNSEEN_MILLIS
  if (holder.boot !== boot) return true
  if (holder.pidNamespace !== pidNamespace) return ageMillis > LONGEST_UNSEEN_MILLIS
  return !isAlive(holder)
}

function read(text: string): Born | undefined {
  try {
    const holder: unknown = JSON.parse(text)
    if (typeof holder !== 'object' || holder === null || !('pid' in holder)) return undefined
    return Number.isSafeInteger(holder.pid) && Number(holder.pid) > 0 ? (holder as Born) : undefined
  } catch {
    return undefined
  }
}

/** The process with this pid that began at this time; one that has ended and is not reaped yet is dead. */
function isAlive({ pid, startTime }: Born): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
  const [state, began] = stateOf(pid)
  return state !== 'Z' && state !== 'X' && (began === undefined || startTime === '' || began === startTime)
}

/** Fields 3 and 22 of /proc/<pid>/stat, where there is one; the second, the program's name, may hold spaces and parentheses. */
function stateOf(pid: number): ReadonlyArray<string | undefined> {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [fields[0], fields[19]]
  } catch {
    return []
  }
}
