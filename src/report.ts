import { systemClock } from './clock.ts'
import type { ShownReport } from './observe/shown-report.ts'
import { hearOwners } from './owners/directory/hear-owner.ts'
import { Ledger } from './owners/ledger.ts'
import { Scope } from './owners/scope.ts'

/** A pool that was asked, and what it said; `undefined`: nothing in time, or nothing that makes sense. */
export interface Asked {
  readonly path: string
  readonly report: ShownReport | undefined
}

/** Asks the running pools of this user how they are. Rejects with `ERR_RUNTIME_DIRECTORY` or the signal's reason. */
export async function askPools(runtimeDirectory: string | undefined, signal: AbortSignal): Promise<Asked[]> {
  const heard = await hearOwners(runtimeDirectory, { clock: systemClock, scope: new Scope(new Ledger(), 'report'), signal })
  return heard.map(({ path, said }) => {
    try {
      const report: ShownReport | undefined = said === undefined ? undefined : JSON.parse(said)
      return { path, report: report?.stats === undefined ? undefined : report }
    } catch {
      // Another version's, or cut short.
      return { path, report: undefined }
    }
  })
}
