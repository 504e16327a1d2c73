import { readlinkSync, statSync } from 'node:fs'
import type { Sweeping } from '../directory/ask-owner.ts'
import { ownUid } from '../directory/names.ts'
import { pause } from '../directory/pause.ts'
import { signal } from './group.ts'
import { allProcesses, argumentsOf, entryOf, hasProc, type ProcessEntry } from './proc.ts'

/** How long an orphan may take to end when asked, and then when it is made to. */
const ASK_MILLIS = 1_000
const LOOK_MILLIS = 20

/**
 * The arguments only we give: ssh with the config file of a tunnel's directory, or, in a child's group, ssh by way of the control socket in one.
 * A path of ours anywhere else (an editor, `ssh -O check` by hand) is somebody's who looks.
 */
function isOurs({ pid, group, session }: ProcessEntry, directory: string): boolean {
  const words = argumentsOf(pid)
  const isIn = (path: string | undefined, name: string) =>
    path?.startsWith(`${directory}/`) === true &&
    /^[0-9a-z]+$/.test(path.slice(directory.length + 1, -name.length - 1)) &&
    path.endsWith(`/${name}`)
  const after = (flag: string) => words[words.indexOf(flag) + 1]
  if (group !== session) return false
  if (group === pid) return words.includes('-F') && isIn(after('-F'), 'f') && words.includes('-N')
  return words.includes('-S') && isIn(after('-S'), 'c') && words.includes('-W')
}

const uidOf = (pid: number): number | undefined => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid

const namespaceOf = (pid: number | 'self'): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // It has ended, or is not ours to look at.
    return undefined
  }
}

/** Signals a process if it is still the one that was found: read and killed in one step, since a pid is used again. */
function signalSame({ pid, startTime }: ProcessEntry, name: NodeJS.Signals): boolean {
  const now = entryOf(pid)
  return now !== undefined && now.startTime === startTime && !now.isZombie && signal(pid, name)
}

const isGone = ({ pid, startTime }: ProcessEntry): boolean => {
  const now = entryOf(pid)
  return now === undefined || now.startTime !== startTime || now.isZombie
}

/**
 * Ends the children that a dead pool has left behind, known by its directory's path in their arguments, and says how many. Only processes of our
 * own user and pid namespace; whether the pool is dead is the caller's business. Where there is no /proc: none.
 */
export async function endOrphans(directory: string, ending: Sweeping): Promise<number> {
  if (!hasProc) return 0
  const [uid, namespace] = [ownUid(), namespaceOf('self')]
  const found = [...allProcesses()].filter(
    (entry) => !entry.isZombie && isOurs(entry, directory) && uidOf(entry.pid) === uid && namespaceOf(entry.pid) === namespace,
  )
  const asked = found.filter((entry) => signalSame(entry, 'SIGTERM'))
  for (let waited = 0; waited < ASK_MILLIS && !asked.every(isGone); waited += LOOK_MILLIS) await pause(LOOK_MILLIS, ending)
  for (const entry of asked) if (!isGone(entry)) signalSame(entry, 'SIGKILL')
  return found.length
}
