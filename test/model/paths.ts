import type { AnyActorLogic, EventFromLogic, InputFrom, SnapshotFrom } from 'xstate'
import { type AdjacencyMap, getAdjacencyMap } from 'xstate/graph'

/** One fact or wish, and the state of the model after it. */
export interface Step<Snapshot, Event> {
  readonly event: Event
  readonly state: Snapshot
}
export type Path<Snapshot, Event> = ReadonlyArray<Step<Snapshot, Event>>

interface Generation<Logic extends AnyActorLogic> {
  readonly input?: InputFrom<Logic>
  /** What may happen in a state; the traversal tries each. */
  readonly events: (state: SnapshotFrom<Logic>) => readonly EventFromLogic<Logic>[]
  /** What makes two states one. */
  readonly fold: (state: SnapshotFrom<Logic>) => string
  readonly isFinal: (state: SnapshotFrom<Logic>) => boolean
  /** What makes two transitions one; by default source, event and target. */
  readonly same?: (from: SnapshotFrom<Logic>, event: EventFromLogic<Logic>, to: SnapshotFrom<Logic>) => string
}

/**
 * Every transition of a model once: the shortest path to its source, then the transition. Paths that another one begins with are left
 * out. XState's own traversal goes on out of final states and is stopped there.
 */
export function everyTransitionOnce<Logic extends AnyActorLogic>(
  logic: Logic,
  { input, events, fold, isFinal, same }: Generation<Logic>,
): Path<SnapshotFrom<Logic>, EventFromLogic<Logic>>[] {
  type Snapshot = SnapshotFrom<Logic>
  type Event = EventFromLogic<Logic>
  const map: AdjacencyMap<Snapshot, Event> = getAdjacencyMap(logic as never, {
    ...(input !== undefined && { input: input as never }),
    events: events as never,
    serializeState: fold as never,
    serializeEvent: (event) => JSON.stringify(event),
    stopWhen: isFinal as never,
  })
  const nodes = map as unknown as Record<
    string,
    { state: Snapshot; transitions: Record<string, { event: Event; state: Snapshot }> }
  >
  const first = Object.keys(nodes)[0]
  if (first === undefined) return []
  const shortest = new Map<string, Path<Snapshot, Event>>([[first, []]])
  const queue = [first]
  const paths: Path<Snapshot, Event>[] = []
  const seen = new Set<string>()
  for (const key of queue) {
    const before = shortest.get(key) ?? []
    const node = nodes[key]
    if (node === undefined || isFinal(node.state)) continue
    for (const [name, { event, state }] of Object.entries(node.transitions)) {
      const to = fold(state)
      const path = [...before, { event, state }]
      if (!shortest.has(to)) {
        shortest.set(to, path)
        queue.push(to)
      }
      const id = same?.(node.state, event, state) ?? `${key} ${name} ${to}`
      if (!seen.has(id)) paths.push(path)
      seen.add(id)
    }
  }
  const prefixes = new Set<Step<Snapshot, Event>>()
  for (const path of paths) for (const step of path.slice(0, -1)) prefixes.add(step)
  return paths.filter((path) => !prefixes.has(path.at(-1) as Step<Snapshot, Event>))
}
