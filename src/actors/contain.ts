import type { AnyActorRef, AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate'

/** A machine that throws again and again is given up: answering each throw might go round for ever. */
const MOST_FAULTS = 3

/** What watches over one machine's logic; none of it may throw. */
export interface Containment {
  /** The event that tells the machine of a throw of its own action or guard. */
  readonly fault: (message: string) => EventObject
  /** A top-level state was entered; `undefined` before the first. */
  readonly moved?: ((to: string, snapshot: AnyMachineSnapshot, self: AnyActorRef) => void) | undefined
}

/** The name of a snapshot's top-level state. */
export function topState(snapshot: AnyMachineSnapshot): string {
  const { value } = snapshot
  if (typeof value === 'string') return value
  for (const name in value) return name
  return ''
}

/** One actor's transitions: what each of them starts, stops, sends and schedules happens when it has succeeded, and never if it threw. */
class Trial {
  faults = 0
  readonly #scope: AnyActorScope
  readonly #attempt: AnyActorScope
  readonly #effects: Array<() => void> = []

  constructor(scope: AnyActorScope) {
    this.#scope = scope
    this.#attempt = { ...scope, defer: (effect) => void this.#effects.push(effect) }
  }

  run(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot {
    this.#effects.length = 0
    const next = machine.transition(snapshot, event, this.#attempt)
    for (const effect of this.#effects) this.#scope.defer(effect)
    return next
  }

  /** The actor ends in error, and XState would let its children run on: their clean-ups are how what they hold is freed. */
  abandon(snapshot: AnyMachineSnapshot): void {
    for (const child of Object.values(snapshot.children)) this.#scope.stopChild(child as AnyActorRef)
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/**
 * Turns a throw inside a machine (an action, a guard, an assign) into an event that the machine answers: XState would end the actor there and
 * then, with its children running on and their clean-ups never called. If answering throws, too, or it throws too often, its children are
 * stopped and the actor ends in error: its owner's net. Wrap last: `provide` returns an unwrapped machine.
 */
export function contained<M extends AnyStateMachine>(machine: M, { fault, moved }: Containment): M {
  const wrapped = Object.create(machine) as M
  const trials = new WeakMap<AnyActorRef, Trial>()
  const trialOf = (scope: AnyActorScope): Trial => {
    const known = trials.get(scope.self)
    if (known !== undefined) return known
    const trial = new Trial(scope)
    trials.set(scope.self, trial)
    return trial
  }
  wrapped.transition = (snapshot, event, scope) => {
    const trial = trialOf(scope)
    let next: AnyMachineSnapshot
    try {
      next = trial.run(machine, snapshot, event)
    } catch (error) {
      try {
        trial.faults += 1
        if (trial.faults > MOST_FAULTS) throw error
        next = trial.run(machine, snapshot, fault(messageOf(error)))
      } catch (again) {
        trial.abandon(snapshot)
        throw again
      }
    }
    if (moved !== undefined && next.value !== snapshot.value) {
      const to = topState(next)
      if (to !== topState(snapshot)) moved(to, next, scope.self)
    }
    return next as ReturnType<M['transition']>
  }
  return wrapped
}

/**
 * Hears of a root actor's end, and keeps its error from ending the process. In one subscription: XState throws the error once more, on a
 * timer, for each observer that does not listen to it.
 */
export function onEnd(actor: AnyActorRef, { ended, broken }: { ended: () => void; broken: (error: unknown) => void }): void {
  actor.subscribe({ complete: ended, error: broken })
}
