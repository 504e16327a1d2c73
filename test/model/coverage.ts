import type { AnyStateMachine, InspectionEvent, StateNode } from 'xstate'

// biome-ignore lint/suspicious/noExplicitAny: whatever state node of whatever machine.
type Node = StateNode<any, any>

const nodesOf = (node: Node): Node[] => [node, ...Object.values(node.states).flatMap((child) => nodesOf(child as Node))]
const targetOf = (target: readonly Node[] | undefined) => target?.map(({ id }) => id).join(' ') ?? 'stays'
type Taken = {
  readonly source: Node
  readonly eventType: string
  readonly target?: readonly Node[] | undefined
  readonly guard?: unknown
}
const guardOf = (guard: unknown) =>
  typeof guard === 'string'
    ? ` [${guard}]`
    : typeof guard === 'object' && guard !== null && 'type' in guard
      ? ` [${String(guard.type)}]`
      : ''
const nameOf = ({ source, eventType, target, guard }: Taken) =>
  `${source.id}: ${eventType === '' ? 'always' : eventType}${guardOf(guard)} → ${targetOf(target)}`

/** Every transition that a machine has, by name. */
export function transitionsOf(machine: AnyStateMachine): Set<string> {
  const all = nodesOf(machine.root as Node).flatMap((node) => [...node.transitions.values()].flat().concat(node.always ?? []))
  return new Set(all.map((transition) => nameOf(transition as unknown as Taken)))
}

/** The transitions that actors of one machine were seen to take; attach `inspect` to their system. */
export class Coverage {
  readonly taken = new Set<string>()
  readonly #machine: AnyStateMachine

  constructor(machine: AnyStateMachine) {
    this.#machine = machine
  }

  readonly inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep') return
    for (const transition of event._transitions) {
      const taken = transition as unknown as Taken
      if (taken.source.machine.id === this.#machine.id) this.taken.add(nameOf(taken))
    }
  }

  /** Transitions that the machine has and nobody took, but for those excepted; and exceptions that are none. */
  missing(exceptions: Readonly<Record<string, string>>): { untaken: string[]; vain: string[] } {
    const all = transitionsOf(this.#machine)
    return {
      untaken: [...all].filter((name) => !this.taken.has(name) && !(name in exceptions)),
      vain: Object.keys(exceptions).filter((name) => this.taken.has(name) || !all.has(name)),
    }
  }
}

/** Every state of a machine that has none within, as a path. */
export const leavesOf = (machine: AnyStateMachine): string[] =>
  nodesOf(machine.root as Node).flatMap((node) => (Object.keys(node.states).length === 0 ? [node.path.join('.')] : []))
