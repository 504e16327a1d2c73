import { bounded } from './bounded.ts'
import { nameOf, words } from './destination-words.ts'
import { dialing } from './dialing.ts'
import { exclusiveBar, exclusiveVerdict, LEFT, STUCK } from './judgement.ts'
import { succeeding } from './succession.ts'

const FORGET = ['forgetFailures', 'forgetAge'] as const
const wishes = { 'dial.wanted': { actions: 'want' }, 'dial.unwanted': { actions: 'unwant' } } as const

/** Every tunnel is told to close, or to go at once. Of one that has ended or broken without being heard, it is heard now. */
const endTunnels = words.enqueueActions(({ enqueue, context, event: leave, self }) => {
  const { children } = self.getSnapshot()
  for (const generation of context.live) {
    const child = children[nameOf(generation)]
    const status = child?.getSnapshot().status
    if (status === 'error') enqueue.raise({ type: 'xstate.error.actor.*', error: undefined, actorId: nameOf(generation) })
    else if (child === undefined || status !== 'active')
      enqueue.raise({ type: 'tunnel.ended', generation, code: undefined, wasOpen: true })
    else if (leave.type === 'destination.leave') enqueue.sendTo(child, { ...leave, type: 'tunnel.close' })
    else enqueue.sendTo(child, { type: 'tunnel.destroy', reason: 'reason' in leave ? leave.reason : 'the destination ends' })
  }
})

/**
 * The life of one destination: dormant, dialing, serving, resting, barred, leaving. It has one current tunnel at most; those that drain,
 * are stuck or exclusive live beside it. Delays may be Infinity: the clock makes no timer then.
 */
export const destinationMachine = words.createMachine({
  id: 'destination',
  options: bounded,
  context: ({ input }) => ({
    ...input,
    isWanted: false,
    isForced: false,
    isStale: false,
    mustGo: false,
    isOverdue: false,
    current: undefined,
    dialing: undefined,
    live: [],
    stuck: [],
    exclusive: [],
    vain: 0,
    failures: 0,
    authFailures: 0,
    authIsOld: false,
    isBarred: false,
    restMillis: 0,
    code: undefined,
  }),
  initial: 'dormant',
  on: {
    'exclusive.admitted': [
      { guard: 'hasTooManyStuck', actions: 'refuseExclusive' },
      { actions: ['countExclusive', 'dialExclusive'] },
    ],
    'tunnel.opened': { guard: 'isExclusive', actions: 'grantExclusive' },
    'tunnel.stuck': { actions: ['failExclusive', ...STUCK] },
    'tunnel.ended': { actions: ['failExclusive', ...LEFT] },
    'auth.aged': { actions: 'noteAge' },
    'destination.reset': { actions: FORGET },
    'destination.leave': '.leaving',
    'destination.destroy': '.leaving',
    'destination.fault': '.leaving',
    'xstate.error.actor.*': { actions: 'autopsy' },
  },
  states: {
    dormant: {
      id: 'dormant',
      always: [
        { guard: 'isWantedInVain', actions: ['refuseStuck', 'unwant'] },
        { guard: 'isWanted', target: 'dialing' },
      ],
      on: {
        ...wishes,
        'dial.forced': { actions: 'want' },
        'tunnel.stuck': exclusiveVerdict(STUCK),
        'tunnel.ended': exclusiveVerdict(LEFT),
      },
      after: {
        forget: [
          { guard: 'isKept', target: 'dormant', reenter: true },
          { guard: 'isEmpty', target: 'leaving' },
          { target: 'dormant', reenter: true },
        ],
      },
    },
    dialing,
    serving: {
      id: 'serving',
      entry: 'serve',
      initial: 'steady',
      after: { stable: { actions: FORGET }, lifetime: { actions: 'outlive' } },
      on: {
        'dial.wanted': { actions: 'want' },
        'dial.unwanted': { actions: 'satisfy' },
        'dial.forced': { actions: ['want', 'serve'] },
        'tunnel.proven': { guard: 'isCurrent', actions: 'serve' },
        'tunnel.draining': { guard: 'isCurrent', target: 'dormant', actions: 'demote' },
        'tunnel.ended': { guard: 'isCurrent', target: 'dormant', actions: ['demote', ...LEFT] },
        'life.over': { actions: 'expire' },
      },
      states: {
        steady: {
          id: 'steady',
          on: {
            'destination.retire': { target: 'succeeding', actions: 'noteForce' },
            'life.over': [
              { guard: 'isIdle', actions: 'closeCurrent' },
              { target: 'succeeding', actions: 'expire' },
            ],
          },
          after: { again: { guard: 'isOverdue', target: 'succeeding' } },
        },
        succeeding,
      },
    },
    resting: {
      id: 'resting',
      initial: 'hushed',
      after: { rest: 'dormant' },
      on: {
        ...wishes,
        'tunnel.opened': { guard: 'isExclusive', target: 'dormant', actions: 'grantExclusive' },
        'tunnel.stuck': exclusiveBar(STUCK),
        'tunnel.ended': exclusiveBar(LEFT),
        'destination.reset': { target: 'dormant', actions: FORGET },
      },
      states: {
        hushed: {
          on: { 'dial.forced': { actions: 'insist' } },
          after: {
            hush: [
              { guard: 'isForcedInVain', target: 'ready', actions: ['refuseStuck', 'unwant'] },
              { guard: 'isForced', target: '#dialing' },
              { target: 'ready' },
            ],
          },
        },
        ready: {
          on: {
            'dial.forced': [
              { guard: 'hasTooManyStuck', actions: ['refuseStuck', 'unwant'] },
              { target: '#dialing', actions: 'insist' },
            ],
          },
        },
      },
    },
    barred: {
      id: 'barred',
      entry: 'bar',
      initial: 'shut',
      on: {
        ...wishes,
        'tunnel.opened': { guard: 'isExclusive', target: 'dormant', actions: ['lift', 'grantExclusive'] },
        'destination.reset': { target: 'dormant', actions: FORGET },
      },
      states: {
        shut: { after: { barredRetry: 'ready' } },
        ready: {
          on: {
            'dial.forced': [
              { guard: 'hasTooManyStuck', actions: ['refuseStuck', 'unwant'] },
              { target: '#dialing', actions: 'insist' },
            ],
            // The one attempt was an exclusive one.
            'tunnel.stuck': exclusiveBar(STUCK),
            'tunnel.ended': exclusiveBar(LEFT),
          },
          after: {
            forget: [
              { guard: 'isKept', target: 'ready', reenter: true },
              { guard: 'isEmpty', target: '#leaving' },
              { target: 'ready', reenter: true },
            ],
          },
        },
      },
    },
    leaving: {
      id: 'leaving',
      entry: ['dismissWaiters', endTunnels],
      always: { guard: 'isEmpty', target: 'left' },
      on: {
        'exclusive.admitted': {},
        'destination.leave': { actions: endTunnels },
        'destination.destroy': { actions: endTunnels },
        'destination.fault': { actions: endTunnels },
      },
    },
    left: { type: 'final' },
  },
})
