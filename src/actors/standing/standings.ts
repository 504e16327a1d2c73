import type { ForwardSpec, Standing } from '../../api/forward.ts'
import type { Scope } from '../../owners/scope.ts'
import type { ResolvedTarget } from '../../target.ts'
import type { Parts } from '../parts.ts'
import type { Registry } from '../registry.ts'
import { closeSoon, Endpoint, type Plan } from './endpoint.ts'

/** The standing endpoints of one pool. */
export class Standings {
  readonly parts: Parts
  readonly registry: Registry
  /** The pool's: endpoints outlive tunnels. */
  readonly scope: Scope
  readonly #open = new Set<Pick<Standing, 'close'>>()

  constructor(parts: Parts, registry: Registry, scope: Scope) {
    this.parts = parts
    this.registry = registry
    this.scope = scope
  }

  /** Opens one; see `TunnelPool.listen`. */
  async listen<S extends ForwardSpec>(target: ResolvedTarget, plan: Plan, signal: AbortSignal | undefined): Promise<Standing<S>> {
    const endpoint = new Endpoint<S>(this, target, plan)
    this.#open.add(endpoint)
    await endpoint.open(signal)
    if (this.registry.ending.aborted) {
      await endpoint.close()
      throw this.registry.ending.reason
    }
    return endpoint
  }

  forget(endpoint: Pick<Standing, 'close'>): void {
    this.#open.delete(endpoint)
  }

  /** The pool ends: nobody is let in any more. */
  end(): void {
    for (const endpoint of [...this.#open]) closeSoon(endpoint)
  }
}
