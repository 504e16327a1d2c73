import { bounded } from './bounded.ts'
import type { TunnelReport } from './events.ts'
import { STUCK_MIN_MILLIS, type TunnelContext, words } from './tunnel-words.ts'

const because = (reason: string, code?: string) => ({ type: 'because' as const, params: { reason, code } })
const endOf = ({ generation, code, wasOpen, isJumps }: TunnelContext) => ({
  generation,
  code,
  wasOpen,
  ...(isJumps && { isJumps }),
})
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

/** An exclusive tunnel closes with its lease, wherever that is returned. */
const returned = <T>(shared: T) =>
  [
    { guard: 'isOthers' },
    { guard: 'isExclusive', target: '#tunnel.draining', actions: ['giveBack', because('its one lease was returned')] },
    shared,
  ] as const

/**
 * The life of one tunnel: opening, open, draining, closed, failed. The two final states are reached only from `draining.settled`, and
 * that only with an empty scope, so whatever has ended has given everything back. Delays may be Infinity: the clock makes no timer then.
 */
export const tunnelMachine = words.createMachine({
  id: 'tunnel',
  options: bounded,
  context: ({ input }) => ({
    ...input,
    isLeased: false,
    wasOpen: false,
    unanswered: 0,
    reason: '',
    code: undefined,
    isJumps: false,
    graceMillis: input.times.closeGraceMillis,
    stuckMillis: STUCK_MIN_MILLIS,
  }),
  output: ({ context }) => ({ generation: context.generation, reason: context.reason, code: context.code }),
  invoke: {
    id: 'guardian',
    src: 'guardian',
    input: ({ context }) => context,
    onError: { target: FORCED, actions: because('its guardian failed', 'ERR_LOST') },
  },
  initial: 'opening',
  on: { 'tunnel.fault': { target: FORCED, actions: 'blame' }, 'xstate.error.actor.*': {} },
  states: {
    opening: {
      initial: 'beginning',
      after: { openTimeout: { target: FORCED, actions: because('not open in time', 'ERR_OPEN_TIMEOUT') } },
      on: { ...cut, 'tunnel.close': { target: FORCED, actions: 'blame' } },
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
          on: { 'lease.taken': { guard: 'isOurs', actions: 'take' }, 'lease.returned': returned({ actions: 'giveBack' }) },
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
            'lease.returned': returned({ target: 'idle', actions: 'giveBack' }),
            'tunnel.verify': 'verifying',
          },
        },
      },
    },
    draining: {
      entry: told('tunnel.draining'),
      // Why it ends is known: what goes wrong from here on does not take its place.
      on: { 'tunnel.fault': FORCED, 'xstate.error.actor.guardian': FORCED },
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
              // What dies by itself meanwhile is not kept waiting for the next attempt.
              invoke: {
                src: 'release',
                input: ({ context }) => ({ ...context, force: false }),
                onDone: '#settled',
                onError: {},
              },
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
