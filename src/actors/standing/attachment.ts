import { onAbort } from '../../aborts.ts'
import type { ResolvedTarget } from '../../target.ts'
import type { Destination } from '../destination.ts'
import type { Parts } from '../parts.ts'
import type { Registry } from '../registry.ts'
import type { Site } from './site.ts'

/** An endpoint's place at a destination, which is not forgotten meanwhile, and whose moves it hears of. */
export class Attachment implements Site {
  readonly parts: Parts
  readonly registry: Registry
  readonly label: string | undefined
  readonly changed: () => void
  target: ResolvedTarget
  /** Undefined while it leaves, and after it broke until somebody asks for it again. */
  destination: Destination | undefined
  readonly #moved = new Set<() => void>()
  #isOver = false

  constructor(parts: Parts, registry: Registry, target: ResolvedTarget, label: string | undefined, changed: () => void) {
    this.parts = parts
    this.registry = registry
    this.target = target
    this.label = label
    this.changed = changed
  }

  attach(): void {
    if (this.#isOver || this.registry.ending.aborted) return
    const { target } = this
    const destination = this.registry.ensure(target)
    if (!destination.isLeaving) {
      this.destination = destination
      destination.endpoints += 1
      destination.watchers.add(this.#look)
    }
    void destination.ended.then(() => {
      if (this.target !== target || this.#isOver) return
      this.#detach()
      // One that breaks as soon as it is made would be made for ever.
      if (destination.failure === undefined) this.attach()
      this.#look()
    })
  }

  move(target: ResolvedTarget): void {
    this.#detach()
    this.target = target
    this.attach()
  }

  leave(): void {
    this.#isOver = true
    this.#detach()
  }

  nextMove(signal: AbortSignal, millis: number): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const settle = () => {
        this.parts.clock.clearTimeout(timer)
        stay()
        this.#moved.delete(settle)
        resolve()
      }
      const timer = this.parts.clock.setTimeout(settle, millis)
      const stay = onAbort(signal, settle)
      this.#moved.add(settle)
    })
  }

  readonly #look = (): void => {
    this.changed()
    for (const settle of [...this.#moved]) settle()
  }

  #detach(): void {
    const { destination } = this
    this.destination = undefined
    if (destination === undefined) return
    destination.endpoints -= 1
    destination.watchers.delete(this.#look)
  }
}
