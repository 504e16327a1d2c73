import { entryOf, hasProc, type ProcessEntry } from './proc.ts'

/** What pid 1 needs to collect what is handed down to it; then it is not counted here. */
const PATIENCE_MILLIS = 1_000

interface Unreaped extends ProcessEntry {
  readonly since: number
}

const seen = new Map<number, Unreaped>()
let isAnnounced = false

const isStill = (one: Unreaped): boolean => {
  const entry = entryOf(one.pid)
  return entry?.isZombie === true && entry.startTime === one.startTime
}

/** Notes processes of ours that have ended and that only pid 1 can collect. */
export function noteUnreaped(zombies: readonly ProcessEntry[]): void {
  const since = performance.now()
  for (const one of zombies) seen.set(one.pid, { ...one, since })
}

/** How many of them nobody has collected. Told once, as a warning, when pid 1 has had time enough. */
export function countUnreaped(): number {
  if (!hasProc) return 0
  for (const [pid, one] of seen) if (!isStill(one)) seen.delete(pid)
  const isLate = [...seen.values()].some(({ since }) => performance.now() - since > PATIENCE_MILLIS)
  if (isLate && !isAnnounced) {
    isAnnounced = true
    process.emitWarning(
      'helper processes of ssh have ended, and pid 1 does not collect them: run this container with an init (docker run --init)',
      { type: 'WarrenWarning' },
    )
  }
  return seen.size
}
