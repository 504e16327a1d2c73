import { type AnyActorRef, assign, fromCallback, fromPromise, raise, sendTo, setup } from 'xstate'
import { bounded } from './bounded.ts'
import type { PoolEvent, PoolInput, RegistryEvent } from './events.ts'
import { unprovided } from './unprovided.ts'

const FREE_MIN_MILLIS = 1_000
const FREE_MAX_MILLIS = 60_000

export interface PoolContext extends PoolInput {
  readonly withinMillis: number
  readonly reason: string
  readonly retryMillis: number
}

const registry = ({ self }: { self: AnyActorRef }) =>
  (self.getSnapshot() as { children: Record<string, AnyActorRef> }).children.registry ?? self

/** The life of a pool: serving, draining, destroying, closed. What it knows of its destinations is in its registry, outside XState's books, because those are copied on every spawn. */
export const poolMachine = setup({
  types: {} as { context: PoolContext; events: PoolEvent; input: PoolInput },
  actors: {
    /** Owns every destination's actor; says `registry.emptied` when it is told to end them and none is left. */
    registry: fromCallback<RegistryEvent, undefined>(unprovided),
    /** Frees what belongs to the pool itself: its directory, its owner socket. Resolves when that is gone. */
    release: fromPromise<void, { force: boolean }>(unprovided),
  },
  actions: {
    note: assign(({ context, event }) => (event.type === 'pool.close' ? { withinMillis: event.withinMillis } : context)),
    /** A later, shorter deadline fires first; a longer one finds the state left. */
    bound: raise(
      { type: 'drain.expired' },
      { delay: ({ context }) => (context.withinMillis === 0 ? context.closeGraceMillis : context.withinMillis) },
    ),
    blame: assign(({ context, event }) => ({
      reason: ('reason' in event ? event.reason : 'message' in event ? event.message : undefined) ?? context.reason,
    })),
    waitLonger: assign({ retryMillis: ({ context }) => Math.min(FREE_MAX_MILLIS, context.retryMillis * 2) }),
    drain: sendTo(
      registry,
      // With no time to drain, asking and forcing share the grace, so that force comes before the close is called stuck.
      ({ context }): RegistryEvent => ({
        type: 'registry.drain',
        withinMillis: context.withinMillis,
        graceMillis: context.withinMillis === 0 ? context.closeGraceMillis / 2 : context.closeGraceMillis,
      }),
    ),
    destroy: sendTo(registry, ({ context }): RegistryEvent => ({ type: 'registry.destroy', reason: context.reason })),
  },
  delays: {
    /** Asking and forcing share the grace that a close has. */
    grace: ({ context }) => context.closeGraceMillis / 2,
    retry: ({ context }) => context.retryMillis,
  },
}).createMachine({
  id: 'pool',
  options: bounded,
  context: ({ input }) => ({
    ...input,
    withinMillis: Number.POSITIVE_INFINITY,
    reason: 'the pool was closed',
    retryMillis: FREE_MIN_MILLIS,
  }),
  invoke: { id: 'registry', src: 'registry', input: undefined, onError: '.destroying' },
  initial: 'serving',
  on: {
    'pool.destroy': { target: '.destroying', actions: 'blame' },
    'pool.fault': { target: '.destroying', actions: 'blame' },
    'xstate.error.actor.*': {},
  },
  states: {
    serving: { on: { 'pool.close': { target: 'draining', actions: 'note' } } },
    draining: {
      entry: ['bound', 'drain'],
      on: {
        'registry.emptied': 'destroying.freeing',
        'pool.close': { actions: ['note', 'bound', 'drain'] },
        'drain.expired': 'destroying',
      },
    },
    destroying: {
      initial: 'forcing',
      states: {
        forcing: {
          entry: 'destroy',
          on: { 'registry.emptied': 'freeing' },
        },
        freeing: {
          invoke: { src: 'release', input: { force: false }, onDone: '#closed', onError: 'forced' },
          after: { grace: 'forced' },
          on: { 'pool.destroy': 'forced', 'pool.fault': 'forced' },
        },
        forced: {
          invoke: { src: 'release', input: { force: true }, onDone: '#closed', onError: 'holding' },
          after: { retry: 'holding' },
          on: { 'pool.destroy': {}, 'pool.fault': 'holding' },
        },
        holding: {
          exit: 'waitLonger',
          // What dies by itself meanwhile is not kept waiting for the next attempt.
          invoke: { src: 'release', input: { force: false }, onDone: '#closed', onError: {} },
          after: { retry: 'forced' },
          on: { 'pool.destroy': {} },
        },
      },
    },
    closed: { id: 'closed', type: 'final' },
  },
})
