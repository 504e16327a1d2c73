import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sweeping } from './ask-owner.ts'
import { ownBirth } from './born.ts'
import { diskError, messageOf } from './disk-error.ts'
import { isLiving } from './living.ts'
import { poolPrefix } from './names.ts'
import { inParallel } from './parallel.ts'
import { pause } from './pause.ts'
import { findPlace } from './place.ts'
import { removeDead } from './remove-dead.ts'
import { judge, type Verdict } from './verdict.ts'

/** Directories looked at together: a socket and a listing each. */
const BOUND = 8
const BETWEEN_MILLIS = 1_000

/** The fields of the fact `pool.swept`. */
export interface Swept {
  /** Dead pools whose directories this sweep has removed. */
  readonly directories: number
  /** Processes of theirs that it has ended. */
  readonly processes: number
  /** What may be somebody's: each path, and why, in words. */
  readonly leftAlone: string[]
}

/** What to sweep, and with what. */
export interface SweepOptions extends Sweeping {
  /** The option runtimeDirectory. */
  readonly base: string | undefined
  /** Ends the children that a dead pool left behind, known by its directory's path in their arguments, and says how many. */
  readonly endChildren?: ((directory: string) => Promise<number>) | undefined
}

/** What a look finds. */
export interface Found {
  /** Paths of dead pools' directories. */
  readonly dead: readonly string[]
  readonly leftAlone: string[]
}

/** Finds what `sweep` would remove, and touches nothing. Rejects as `sweep` does. */
export async function findDead(options: Omit<SweepOptions, 'endChildren'>): Promise<Found> {
  const { signal } = options
  try {
    const self = ownBirth()
    const judged = (paths: readonly string[]): Promise<Verdicts> =>
      inParallel(paths, BOUND, async (path) => {
        const verdict = await judge(path, self, options)
        signal.throwIfAborted()
        return [path, verdict] as const
      })
    const first = await judged(await candidates(options.base))
    const doubtful = pathsOf(first, 'refused')
    if (doubtful.length > 0) await pause(BETWEEN_MILLIS, options)
    const second = await judged(doubtful)
    const leftAlone = [...first, ...second].flatMap(([path, verdict]) =>
      verdict.is === 'unknown' ? [`${path}: ${verdict.why}`] : [],
    )
    return { dead: [...pathsOf(first, 'dead'), ...pathsOf(second, 'dead'), ...pathsOf(second, 'refused')], leftAlone }
  } catch (error) {
    throw signal.aborted ? signal.reason : diskError(error, 'cannot sweep')
  }
}

/**
 * Removes what pools of this user left behind that are certainly dead: made on this machine, and before it was booted, or with an
 * owner socket that refuses twice, a second apart. Does not hold the process. Rejects with the signal's reason,
 * `ERR_RUNTIME_DIRECTORY` or `ERR_LOCAL_LIMIT`.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { signal, endChildren = async () => 0 } = options
  try {
    const { dead, leftAlone } = await findDead(options)
    let processes = 0
    const removed = await inParallel(dead, BOUND, async (path) => {
      signal.throwIfAborted()
      try {
        const ended = await endChildren(path)
        processes += ended
        return await removeDead(path)
      } catch (error) {
        leftAlone.push(`${path}: its owner is dead, but it cannot be removed (${messageOf(error)})`)
        return false
      }
    })
    return { directories: removed.filter(Boolean).length, processes, leftAlone }
  } catch (error) {
    throw signal.aborted ? signal.reason : diskError(error, 'cannot sweep')
  }
}

type Verdicts = ReadonlyArray<readonly [path: string, verdict: Verdict]>

function pathsOf(verdicts: Verdicts, is: Verdict['is']): string[] {
  return verdicts.filter(([, verdict]) => verdict.is === is).map(([path]) => path)
}

async function candidates(base: string | undefined): Promise<string[]> {
  const place = await findPlace(base)
  const names = await readdir(place)
  return names
    .filter((name) => name.startsWith(poolPrefix()))
    .map((name) => join(place, name))
    .filter((path) => !isLiving(path))
}
