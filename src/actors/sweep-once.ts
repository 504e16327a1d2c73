import { TunnelError } from '../errors.ts'
import { load } from '../owners/load.ts'
import type { Scope } from '../owners/scope.ts'
import { quietly } from '../wait.ts'
import type { Parts } from './parts.ts'

/** One sweep of what dead pools left, at the first use of this one: in the background, ended with the pool, and holding nobody up. */
export class SweepOnce {
  readonly #parts: Parts
  readonly #scope: Scope
  readonly #controller = new AbortController()
  #sweeping: Promise<void> | undefined

  constructor(parts: Parts, scope: Scope) {
    this.#parts = parts
    this.#scope = scope
  }

  begin(): void {
    if (this.#sweeping !== undefined) return
    this.#sweeping = this.#run()
    quietly(this.#sweeping)
  }

  /** Stops it, and resolves when it has let go of everything. */
  async end(): Promise<void> {
    this.#controller.abort(new TunnelError('ERR_POOL_CLOSED', 'the pool was closed'))
    await this.#sweeping?.catch(() => {
      // A sweep that failed leaves things to the next: it was told already, or was ended by this.
    })
  }

  async #run(): Promise<void> {
    const { options, clock, facts } = this.#parts
    const { sweep } = await load(() => import('../owners/directory/sweep.ts'))
    const { endOrphans } = await load(() => import('../owners/child/orphans.ts'))
    const sweeping = { clock, scope: this.#scope, signal: this.#controller.signal }
    const endChildren = (directory: string) => endOrphans(directory, sweeping)
    const swept = await sweep({ base: options.runtimeDirectory, endChildren, ...sweeping })
    if (swept.directories + swept.processes + swept.leftAlone.length > 0) facts.publish('pool.swept', swept)
  }
}
