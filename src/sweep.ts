import { Hold } from './actors/hold.ts'
import { systemClock } from './clock.ts'
import { endOrphans } from './owners/child/orphans.ts'
import { type Found, findDead, type Swept, sweep } from './owners/directory/sweep.ts'
import { Ledger } from './owners/ledger.ts'
import { Scope } from './owners/scope.ts'

/** Where to look, and when to give up. */
export interface Sweep {
  /** As the pool's option of that name. */
  readonly runtimeDirectory: string | undefined
  readonly signal: AbortSignal
}

/** The sweep itself does not hold the process; whoever asks for one waits for it. */
async function held<T>(sweeping: Promise<T>): Promise<T> {
  const hold = new Hold()
  return await hold.during(sweeping).finally(() => hold.end())
}

const sweepingBy = ({ runtimeDirectory, signal }: Sweep) => ({
  base: runtimeDirectory,
  clock: systemClock,
  scope: new Scope(new Ledger(), 'sweep'),
  signal,
})

/** What dead pools of this user have left, without touching it. Rejects with `ERR_RUNTIME_DIRECTORY`, `ERR_LOCAL_LIMIT` or the signal's reason. */
export function look(sweeping: Sweep): Promise<Found> {
  return held(findDead(sweepingBy(sweeping)))
}

/** Removes it: their processes first, then their directories. A pool does the same at its first use. Rejects as `look` does. */
export function sweepNow(sweeping: Sweep): Promise<Swept> {
  const by = sweepingBy(sweeping)
  return held(sweep({ ...by, endChildren: (directory) => endOrphans(directory, by) }))
}
