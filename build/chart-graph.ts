import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'

/** All transitions between the same two states, as one edge. */
export interface ChartEdge {
  readonly from: string
  readonly to: string
  /** As XState names them: what an inspection event is matched with. */
  readonly events: Set<string>
  /** As people read them. */
  readonly labels: Set<string>
}

export interface ChartState {
  /** Names from the root, joined by dots: as in a state's value. */
  readonly path: string
  readonly name: string
  readonly isInitial: boolean
  readonly isFinal: boolean
  readonly states: readonly ChartState[]
}

export interface Chart {
  readonly id: string
  readonly states: readonly ChartState[]
  readonly edges: readonly ChartEdge[]
  /** What leads away from every state: in words, since an edge from everywhere shows nothing. */
  readonly anywhere: readonly string[]
}

const pathOf = (node: AnyStateNode) => node.path.join('.')

/** `after idleTimeout`, `done`, `failed`: XState's own event names in words. */
function labelOf(event: string): string {
  const [, after] = /^xstate\.after\.([^.]+)\./.exec(event) ?? []
  if (after !== undefined) return `after ${after}`
  if (event.startsWith('xstate.done.')) return 'done'
  if (event.startsWith('xstate.error.')) return 'failed'
  return event === '' ? 'at once' : event
}

function statesOf(node: AnyStateNode): ChartState[] {
  return Object.values(node.states as Record<string, AnyStateNode>).map((child) => ({
    path: pathOf(child),
    name: child.key,
    isInitial: node.initial?.target?.includes(child) === true,
    isFinal: child.type === 'final',
    states: statesOf(child),
  }))
}

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  for (const child of Object.values(node.states as Record<string, AnyStateNode>)) yield* nodesOf(child)
}

/** What of a machine is drawn: states in states, and every transition that leads somewhere. */
export function chartOf(machine: AnyStateMachine): Chart {
  const edges = new Map<string, ChartEdge>()
  const anywhere = new Set<string>()
  for (const node of nodesOf(machine.root)) {
    const transitions: AnyTransitionDefinition[] = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
    for (const { target, eventType, source } of transitions) {
      for (const to of target ?? []) {
        const label = labelOf(eventType)
        if (source === machine.root) {
          anywhere.add(`${label} → ${to.path.at(-1)}`)
          continue
        }
        const key = `${pathOf(source)}>${pathOf(to)}`
        const edge = edges.get(key) ?? { from: pathOf(source), to: pathOf(to), events: new Set(), labels: new Set() }
        edge.events.add(eventType === '' ? 'always' : eventType)
        edge.labels.add(label)
        edges.set(key, edge)
      }
    }
  }
  return { id: machine.id, states: statesOf(machine.root), edges: [...edges.values()], anywhere: [...anywhere] }
}
