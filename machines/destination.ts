import { words } from './destination-words.ts'

const LEFT = ['depart', 'bury', 'unlink'] as const
const FAILED = ['failWaiters', 'countFailure', 'ageAuth', 'drop'] as const

/** How a dial that came to nothing is judged. */
const verdict = [
  { guard: 'isAborted', target: '#dormant', actions: ['drop', ...LEFT] },
  { guard: 'isPermanent', target: '#barred', actions: [...FAILED, ...LEFT] },
  { guard: 'isDialing', target: '#resting', actions: [...FAILED, ...LEFT] },
] as const

/** The same when its remains will not die: nobody is kept waiting for that. */
const stuckVerdict = [
  { guard: 'isPermanent', target: '#barred', actions: [...FAILED, 'markStuck', 'announceStuck'] },
  { guard: 'isDialing', target: '#resting', actions: [...FAILED, 'markStuck', 'announceStuck'] },
] as const

const wishes = { 'dial.wanted': { actions: 'want' }, 'dial.unwanted': { actions: 'unwant' } } as const

/** Every tunnel is told to close, or to go at once. */
const endTunnels = words.enqueueActions(({ enqueue, event: leave, self }) => {
  for (const child of Object.values(self.getSnapshot().children)) {
    if (child === undefined || !child.id.startsWith('tunnel-')) continue
    if (leave.type === 'destination.leave') enqueue.sendTo(child, { ...leave, type: 'tunnel.close' })
    else enqueue.sendTo(child, { type: 'tunnel.destroy', reason: 'reason' in leave ? leave.reason : 'the destination ends' })
  }
})

/**
 * The life of one destination: dormant, dialing, serving, resting, barred, leaving. It has one current tunnel at most; those that drain,
 * are stuck or exclusive live beside it. Delays may be Infinity: the clock makes no timer then.
 */
export const destinationMachine = words.createMachine({
  id: 'destination',
  context: ({ input }) => ({
    ...input,
    isWanted: false,
    isForced: false,
    isStale: false,
    mustGo: false,
    current: undefined,
    dialing: undefined,
    live: [],
    stuck: [],
    exclusive: [],
    failures: 0,
    authFailures: 0,
    authIsOld: false,
    isBarred: false,
    restMillis: 0,
    code: undefined,
  }),
  initial: 'dormant',
  on: {
    'exclusive.admitted': { actions: ['countExclusive', 'dialExclusive'] },
    'tunnel.opened': { guard: 'isExclusive', actions: 'grantExclusive' },
    'tunnel.stuck': { actions: ['markStuck', 'announceStuck', 'failExclusive'] },
    'tunnel.ended': [
      { guard: 'isExclusiveFailure', actions: ['failExclusive', 'countFailure', 'ageAuth', ...LEFT] },
      { actions: ['failExclusive', ...LEFT] },
    ],
    'auth.aged': { actions: 'noteAge' },
    'destination.reset': { actions: 'forgetFailures' },
    'destination.leave': '.leaving',
    'destination.destroy': '.leaving',
    'destination.fault': '.leaving',
    'xstate.error.actor.*': { actions: 'autopsy' },
  },
  states: {
    dormant: {
      id: 'dormant',
      entry: 'stay',
      always: [
        { guard: 'isWantedInVain', actions: ['refuseStuck', 'unwant'] },
        { guard: 'isWanted', target: 'dialing' },
      ],
      on: {
        ...wishes,
        'dial.forced': { actions: 'want' },
        'tunnel.ended': [
          { guard: 'isExclusiveBar', target: 'barred', actions: ['failExclusive', 'countFailure', 'ageAuth', ...LEFT] },
          { guard: 'isExclusiveFailure', target: 'resting', actions: ['failExclusive', 'countFailure', 'ageAuth', ...LEFT] },
          { actions: ['failExclusive', ...LEFT] },
        ],
      },
      after: {
        forget: [
          { guard: 'isEmpty', target: 'leaving' },
          { target: 'dormant', reenter: true },
        ],
      },
    },
    dialing: {
      id: 'dialing',
      entry: 'calm',
      initial: 'spreading',
      on: {
        'dial.wanted': { actions: ['want', 'stay'] },
        'dial.forced': { actions: ['want', 'stay'] },
        'dial.unwanted': { actions: ['unwant', 'linger'] },
        'dial.lingered': { target: 'dormant', actions: ['closeDialing', 'drop'] },
        'destination.retire': { actions: 'spoil' },
      },
      states: {
        spreading: { always: { guard: 'mayDialNow', target: 'queued' }, after: { spread: 'queued' } },
        queued: {
          invoke: {
            src: 'admission',
            input: ({ context }) => ({ id: context.id, isFailing: context.failures > 0 }),
            onDone: { target: 'opening', actions: [{ type: 'begin', params: ({ event }) => event.output }, 'count', 'dial'] },
            onError: { target: '#resting', actions: FAILED },
          },
        },
        opening: {
          id: 'opening',
          on: {
            'tunnel.opened': [
              { guard: 'isStaleDial', target: '#dormant', actions: ['closeDialing', 'drop'] },
              { guard: 'isDialing', target: '#serving', actions: 'promote' },
              { guard: 'isExclusive', actions: 'grantExclusive' },
            ],
            'tunnel.ended': [...verdict, { actions: ['failExclusive', ...LEFT] }],
            'tunnel.stuck': [...stuckVerdict, { actions: ['markStuck', 'announceStuck', 'failExclusive'] }],
          },
        },
      },
    },
    serving: {
      id: 'serving',
      entry: ['stay', 'serve'],
      initial: 'steady',
      after: {
        stable: { actions: 'forgetFailures' },
        lifetime: [
          { guard: 'isIdleAndSteady', actions: 'closeCurrent' },
          { guard: 'isSteady', target: '.succeeding' },
        ],
      },
      on: {
        ...wishes,
        'dial.forced': { actions: 'want' },
        'tunnel.proven': { guard: 'isCurrent', actions: 'serve' },
        'tunnel.draining': { guard: 'isCurrent', target: 'dormant', actions: 'demote' },
        'tunnel.ended': [
          { guard: 'isCurrent', target: 'dormant', actions: ['demote', ...LEFT] },
          { actions: ['failExclusive', ...LEFT] },
        ],
      },
      states: {
        steady: { id: 'steady', on: { 'destination.retire': { target: 'succeeding', actions: 'noteForce' } } },
        succeeding: {
          initial: 'deciding',
          on: { 'destination.retire': { actions: 'noteForce' } },
          states: {
            deciding: {
              always: [{ guard: 'hasNoRoom', target: '#dormant', actions: ['closeCurrent', 'demote'] }, { target: 'queued' }],
            },
            queued: {
              invoke: {
                src: 'admission',
                input: ({ context }) => ({ id: context.id, isFailing: false }),
                onDone: { target: 'opening', actions: [{ type: 'begin', params: ({ event }) => event.output }, 'count', 'dial'] },
                onError: { target: '#steady', actions: 'failSuccession' },
              },
            },
            opening: {
              on: {
                'tunnel.opened': [
                  { guard: 'isDialing', target: '#serving', reenter: true, actions: ['closeCurrent', 'promote'] },
                  { guard: 'isExclusive', actions: 'grantExclusive' },
                ],
                'tunnel.draining': { guard: 'isCurrent', target: '#opening', actions: 'demote' },
                'tunnel.ended': [
                  {
                    guard: 'isHostKey',
                    target: '#barred',
                    actions: ['closeCurrent', 'demote', 'failSuccession', ...FAILED, ...LEFT],
                  },
                  { guard: 'mustGo', target: '#dormant', actions: ['closeCurrent', 'demote', 'failSuccession', 'drop', ...LEFT] },
                  { guard: 'isDialing', target: '#steady', actions: ['failSuccession', 'drop', ...LEFT] },
                  { guard: 'isCurrent', target: '#opening', actions: ['demote', ...LEFT] },
                  { actions: ['failExclusive', ...LEFT] },
                ],
              },
            },
          },
        },
      },
    },
    resting: {
      id: 'resting',
      initial: 'hushed',
      after: { rest: 'dormant' },
      on: { ...wishes, 'destination.reset': { target: 'dormant', actions: 'forgetFailures' } },
      states: {
        hushed: {
          on: { 'dial.forced': { actions: 'insist' } },
          after: { hush: [{ guard: 'isForced', target: '#dialing' }, { target: 'ready' }] },
        },
        ready: { on: { 'dial.forced': { target: '#dialing', actions: 'insist' } } },
      },
    },
    barred: {
      id: 'barred',
      entry: 'bar',
      initial: 'shut',
      on: { ...wishes, 'destination.reset': { target: 'dormant', actions: 'forgetFailures' } },
      states: {
        shut: { after: { barredRetry: 'ready' } },
        ready: {
          on: { 'dial.forced': { target: '#dialing', actions: 'insist' } },
          after: { forget: { guard: 'isEmpty', target: '#leaving' } },
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
