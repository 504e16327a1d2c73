import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate'

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

/**
 * Turns a throw inside a machine (an action, a guard, an assign) into an event that the machine answers: XState would end the actor there and
 * then, with its children running on and their clean-ups never called. If answering throws, too, the actor ends in error: its owner's net.
 * Wrap last: `provide` returns an unwrapped machine.
 */
export function contained<M extends AnyStateMachine>(machine: M, { fault, moved }: Containment): M {
  const wrapped = Object.create(machine) as M
  wrapped.transition = (snapshot, event, scope) => {
    let next: ReturnType<M['transition']>
    try {
      next = machine.transition(snapshot, event, scope) as ReturnType<M['transition']>
    } catch (error) {
      next = machine.transition(
        snapshot,
        fault(error instanceof Error ? error.message : String(error)) as never,
        scope,
      ) as ReturnType<M['transition']>
    }
    if (moved !== undefined && next.value !== snapshot.value) {
      const to = topState(next)
      if (to !== topState(snapshot)) moved(to, next, scope.self)
    }
    return next
  }
  return wrapped
}

/** Keeps an actor's error from ending the process, and hears of it. */
export function onBroken(actor: AnyActorRef, broken: (error: unknown) => void): void {
  actor.subscribe({ error: broken })
}
