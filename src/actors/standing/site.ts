import type { ResolvedTarget } from '../../target.ts'
import type { Parts } from '../parts.ts'
import type { Registry } from '../registry.ts'

/** Where a standing endpoint leads now, as its parts see it. */
export interface Site {
  readonly parts: Parts
  readonly registry: Registry
  readonly target: ResolvedTarget
  /** On its leases: who holds them. */
  readonly label: string | undefined
  /** Something that its state is made of may have changed. */
  readonly changed: () => void
  /** Resolves at the next move of its destination, when the time is over, or when the signal aborts. */
  nextMove(signal: AbortSignal, millis: number): Promise<void>
}
