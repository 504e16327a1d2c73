import { type AnyActorRef, assign, fromCallback, fromPromise, raise, sendTo, setup } from 'xstate'
import type { TunnelEvent, TunnelInput, TunnelName, TunnelOutput, TunnelReport } from './events.ts'
import { unprovided } from './unprovided.ts'
import { type Why, whyOf } from './why.ts'

/** Between one forced attempt and its verdict. */
const FORCE_MILLIS = 1_000
const STUCK_MIN_MILLIS = 1_000
const STUCK_MAX_MILLIS = 60_000

export interface TunnelContext extends TunnelInput, Why {
  /** Whether a lease is out. */
  readonly isLeased: boolean
  readonly wasOpen: boolean
  /** Probes that failed in a row. */
  readonly unanswered: number
  readonly graceMillis: number
  readonly stuckMillis: number
}

const because = (reason: string, code?: string) => ({ type: 'because' as const, params: { reason, code } })
const endOf = ({ generation, code, wasOpen }: TunnelContext) => ({ generation, code, wasOpen })
const told = (type: 'tunnel.draining' | 'tunnel.stuck' | 'tunnel.ended') => ({
  type: 'tell' as const,
  params: ({ context }: { context: TunnelContext }): TunnelReport => ({ type, ...endOf(context) }),
})

/** Above all others: whatever is going on, these begin the release. */
const FORCED = '#tunnel.draining.releasing.forced'
const cut = {
  'tunnel.lost': { guard: 'isOurs', target: FORCED, actions: 'blame' },
  'tunnel.destroy': { target: FORCED, actions: 'blame' },
} as const

/**
 * The life of one tunnel: opening, open, draining, closed, failed. The two final states are reached only from `draining.settled`, and
 * that only with an empty scope, so whatever has ended has given everything back. Delays may be Infinity: the clock makes no timer then.
 */
export const tunnelMachine = setup({
  types: {} as { context: TunnelContext; events: TunnelEvent; input: TunnelInput; output: TunnelOutput },
  actors: {
    /** Forces the release when somebody stops the actor from outside: XState runs no exit actions then. */
    guardian: fromCallback<TunnelEvent, TunnelName>(unprovided),
    makeDirectory: fromPromise<void, TunnelName>(unprovided),
    dial: fromPromise<void, TunnelName>(unprovided),
    probe: fromPromise<void, TunnelName>(unprovided),
    /** Resolves when the scope is empty. */
    release: fromPromise<void, TunnelName & { force: boolean }>(unprovided),
  },
  actions: {
    /** Without a parent (the machine alone, in a test or an editor) it falls back on the tunnel, which ignores it. */
    tell: sendTo(
      ({ self }) => self._parent as AnyActorRef,
      (_, report: TunnelReport) => report,
    ),
    blame: assign(({ event }) => whyOf(event)),
    because: assign((_, why: { reason: string; code: string | undefined }) => why),
    take: assign({ isLeased: true }),
    giveBack: assign({ isLeased: false }),
    markOpen: assign({ wasOpen: true }),
    markProven: assign({ unanswered: 0 }),
    countUnanswered: assign({ unanswered: ({ context }) => context.unanswered + 1 }),
    hurry: assign({
      graceMillis: ({ context, event }) => (event.type === 'tunnel.close' ? event.graceMillis : undefined) ?? context.graceMillis,
    }),
    /** A later, shorter deadline fires first; a longer one finds the state left. */
    boundDrain: raise(
      { type: 'drain.expired' },
      {
        delay: ({ context, event }) =>
          (event.type === 'tunnel.close' ? event.withinMillis : undefined) ?? context.times.drainTimeoutMillis,
      },
    ),
    waitLonger: assign({ stuckMillis: ({ context }) => Math.min(STUCK_MAX_MILLIS, context.stuckMillis * 2) }),
    /** Ends the leases that are still out, with the tunnel's reason. */
    cutLeases: () => {},
  },
  guards: {
    needsDirectory: ({ context }) => context.needsDirectory,
    isExclusive: ({ context }) => context.isExclusive,
    isOurs: ({ context, event }) => 'generation' in event && event.generation === context.generation,
    isOthers: ({ context, event }) => 'generation' in event && event.generation !== context.generation,
    isLeased: ({ context }) => context.isLeased,
    isUnleased: ({ context }) => !context.isLeased,
    deservesAnotherProbe: ({ context }) => context.isLeased && context.unanswered < 1,
    hasFailed: ({ context }) => context.code !== undefined,
    /** Something came into the scope after it was found empty. */
    scopeIsHeld: () => false,
  },
  delays: {
    openTimeout: ({ context }) => context.times.openTimeoutMillis,
    idleTimeout: ({ context }) => context.times.idleTimeoutMillis,
    probeTimeout: ({ context }) => context.times.probeTimeoutMillis,
    grace: ({ context }) => context.graceMillis,
    force: FORCE_MILLIS,
    stuck: ({ context }) => context.stuckMillis,
  },
}).createMachine({
  id: 'tunnel',
  context: ({ input }) => ({
    ...input,
    isLeased: false,
    wasOpen: false,
    unanswered: 0,
    reason: '',
    code: undefined,
    graceMillis: input.times.closeGraceMillis,
    stuckMillis: STUCK_MIN_MILLIS,
  }),
  output: ({ context }) => ({ generation: context.generation, reason: context.reason, code: context.code }),
  invoke: { id: 'guardian', src: 'guardian', input: ({ context }) => context, onError: FORCED },
  initial: 'opening',
  on: { 'tunnel.fault': { target: FORCED, actions: 'blame' } },
  states: {
    opening: {
      initial: 'beginning',
      after: { openTimeout: { target: FORCED, actions: because('not open in time', 'ERR_OPEN_TIMEOUT') } },
      on: { 'tunnel.close': { target: FORCED, actions: 'blame' }, 'tunnel.destroy': { target: FORCED, actions: 'blame' } },
      states: {
        beginning: { always: [{ guard: 'needsDirectory', target: 'directory' }, { target: 'dialing' }] },
        directory: {
          invoke: {
            src: 'makeDirectory',
            input: ({ context }) => context,
            onDone: 'dialing',
            onError: { target: FORCED, actions: 'blame' },
          },
        },
        dialing: {
          invoke: {
            src: 'dial',
            input: ({ context }) => context,
            onDone: '#open',
            onError: { target: FORCED, actions: 'blame' },
          },
        },
      },
    },
    open: {
      id: 'open',
      entry: ['markOpen', { type: 'tell', params: ({ context }) => ({ type: 'tunnel.opened', generation: context.generation }) }],
      initial: 'idle',
      on: {
        ...cut,
        'tunnel.close': { target: 'draining', actions: ['blame', 'hurry', 'boundDrain'] },
        'lease.faulted': {
          guard: 'isOurs',
          target: 'draining',
          actions: [because('a lease came back with a fault'), 'boundDrain'],
        },
      },
      states: {
        idle: {
          after: { idleTimeout: { target: '#tunnel.draining', actions: because('idle') } },
          on: { 'lease.taken': { guard: 'isOurs', target: 'leased', actions: 'take' }, 'tunnel.verify': 'verifying' },
        },
        verifying: {
          invoke: {
            src: 'probe',
            input: ({ context }) => context,
            onDone: { target: 'proven', actions: 'markProven' },
            onError: 'doubted',
          },
          after: { probeTimeout: 'doubted' },
          on: { 'lease.taken': { guard: 'isOurs', actions: 'take' }, 'lease.returned': { guard: 'isOurs', actions: 'giveBack' } },
        },
        proven: {
          entry: { type: 'tell', params: ({ context }) => ({ type: 'tunnel.proven', generation: context.generation }) },
          always: [{ guard: 'isLeased', target: 'leased' }, { target: 'idle' }],
        },
        doubted: {
          always: [
            { guard: 'deservesAnotherProbe', target: 'verifying', actions: 'countUnanswered' },
            { target: FORCED, actions: because('the other end does not answer', 'ERR_LOST') },
          ],
        },
        leased: {
          on: {
            'lease.returned': [
              { guard: 'isOthers' },
              { guard: 'isExclusive', target: '#tunnel.draining', actions: ['giveBack', because('its one lease was returned')] },
              { target: 'idle', actions: 'giveBack' },
            ],
            'tunnel.verify': 'verifying',
          },
        },
      },
    },
    draining: {
      entry: told('tunnel.draining'),
      initial: 'finishing',
      states: {
        finishing: {
          always: { guard: 'isUnleased', target: 'releasing' },
          on: {
            ...cut,
            'lease.returned': { guard: 'isOurs', actions: 'giveBack' },
            'tunnel.close': { actions: ['hurry', 'boundDrain'] },
            'drain.expired': 'releasing',
          },
        },
        releasing: {
          entry: 'cutLeases',
          initial: 'graceful',
          states: {
            graceful: {
              invoke: {
                src: 'release',
                input: ({ context }) => ({ ...context, force: false }),
                onDone: '#settled',
                onError: 'forced',
              },
              after: { grace: 'forced' },
              on: { 'tunnel.destroy': 'forced' },
            },
            forced: {
              invoke: {
                src: 'release',
                input: ({ context }) => ({ ...context, force: true }),
                onDone: '#settled',
                onError: 'stuck',
              },
              after: { force: 'stuck' },
            },
            stuck: {
              entry: told('tunnel.stuck'),
              exit: 'waitLonger',
              after: { stuck: 'forced' },
              on: { 'tunnel.destroy': 'forced' },
            },
          },
        },
        settled: {
          id: 'settled',
          always: [
            { guard: 'scopeIsHeld', target: FORCED },
            { guard: 'hasFailed', target: '#tunnel.failed' },
            { target: '#tunnel.closed' },
          ],
        },
      },
    },
    closed: { type: 'final', entry: told('tunnel.ended') },
    failed: { type: 'final', entry: told('tunnel.ended') },
  },
})
