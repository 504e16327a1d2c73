import type { AnyActorRef, InspectionEvent } from 'xstate'
import type { InspectedEvent } from '../api/report.ts'
import { quietly } from '../wait.ts'

/** The only fields of an event that leave: ids, counts, codes, times. Nothing in them was ever near a secret. */
const FIELDS = ['generation', 'lease', 'code', 'reason', 'wasOpen', 'force', 'withinMillis', 'graceMillis'] as const
const ROOT = 'pool'

type Observer = (event: InspectedEvent) => void
/** What people call an actor, and since when it is what it is; for those that have a name. */
export type About = (actorId: string) => { readonly label: string | undefined; readonly since: Date } | undefined

/** What an observer sees of an actor: enough for Stately's inspector, and nothing that reaches our objects. */
interface ShownActor {
  readonly sessionId: string
  readonly id: string
  readonly logic: { readonly config?: unknown }
  readonly _parent: ShownActor | undefined
  getSnapshot(): unknown
}

function shownEvent(event: { type: string }): Record<string, unknown> {
  const shown: Record<string, unknown> = { type: event.type }
  for (const field of FIELDS) if (field in event) shown[field] = (event as Record<string, unknown>)[field]
  return shown
}

function shownSnapshot(snapshot: unknown): Record<string, unknown> {
  // An actor is told of while it is being made, and has none yet.
  const { status, value, context } = (snapshot ?? {}) as { status?: string; value?: unknown; context?: Record<string, unknown> }
  const plain = Object.entries(context ?? {}).filter(([, field]) => typeof field !== 'object' || Array.isArray(field))
  return { status, value, context: Object.fromEntries(plain) }
}

function shownActor(ref: AnyActorRef, pool: AnyActorRef): ShownActor {
  // Each destination is a system of its own; for whoever looks they are children of the pool.
  const parent = ref._parent ?? (ref === pool ? undefined : pool)
  const config = (ref as { logic?: { config?: unknown } }).logic?.config
  return {
    sessionId: ref.sessionId,
    id: ref.id,
    logic: config === undefined ? {} : { config },
    _parent: parent === undefined ? undefined : shownActor(parent, pool),
    getSnapshot: () => shownSnapshot(ref.getSnapshot()),
  }
}

/** One inspection event of XState as it may be shown; `undefined` for the kinds that carry implementation. */
function project(event: InspectionEvent, pool: AnyActorRef, about: About): InspectedEvent | undefined {
  const base = { rootId: ROOT, actorRef: shownActor(event.actorRef as AnyActorRef, pool) }
  if (event.type === '@xstate.actor')
    return { type: event.type, ...base, snapshot: base.actorRef.getSnapshot(), about: about(base.actorRef.id) }
  if (event.type !== '@xstate.event' && event.type !== '@xstate.snapshot') return undefined
  const told = { type: event.type, ...base, event: shownEvent(event.event) }
  if (event.type === '@xstate.snapshot') return { ...told, snapshot: shownSnapshot(event.snapshot) }
  return { ...told, sourceRef: event.sourceRef === undefined ? undefined : shownActor(event.sourceRef as AnyActorRef, pool) }
}

/** An actor that was there before anybody looked, and its children, as XState would have told of them. */
function projectPresent(actorRef: AnyActorRef, pool: AnyActorRef, about: About): InspectedEvent[] {
  const shown = shownActor(actorRef, pool)
  const { children = {} } = actorRef.getSnapshot() as { children?: Record<string, AnyActorRef | undefined> }
  return [
    { type: '@xstate.actor', rootId: ROOT, actorRef: shown, snapshot: shown.getSnapshot(), about: about(shown.id) },
    ...Object.values(children).flatMap((child) => (child === undefined ? [] : projectPresent(child, pool, about))),
  ]
}

/** What is shown to one observer: all of it allow-listed, and nothing that it throws gets out, which would break the machines. */
export class Inspector {
  readonly #observe: (event: InspectedEvent) => unknown
  readonly #pool: AnyActorRef
  readonly #about: About

  /** Takes a function or what Stately's inspectors give. */
  constructor(given: Observer | { next?: ((event: never) => void) | undefined }, pool: AnyActorRef, about: About) {
    this.#observe = typeof given === 'function' ? given : (event) => given.next?.(event as never)
    this.#pool = pool
    this.#about = about
  }

  /** Shows an actor that is there already, and its children. */
  introduce(actor: AnyActorRef): void {
    this.#safely(() => projectPresent(actor, this.#pool, this.#about))
  }

  /** Shows what XState tells of. */
  readonly tell = (event: InspectionEvent): void => {
    this.#safely(() => {
      const shown = project(event, this.#pool, this.#about)
      return shown === undefined ? [] : [shown]
    })
  }

  #safely(project: () => InspectedEvent[]): void {
    try {
      for (const event of project()) {
        const result = this.#observe(event)
        if (result instanceof Promise) quietly(result)
      }
    } catch {
      // The observer's own affair: it sees the next event, too.
    }
  }
}
