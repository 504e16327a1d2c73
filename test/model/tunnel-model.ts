import { assign, setup } from 'xstate'

/** What can happen to a tunnel: wishes of its destination, and facts of the world. */
export type TunnelFact =
  | { type: 'take' | 'give back' | 'fault of a lease' | 'verify' | 'close' | 'hurry' | 'destroy' | 'bug' }
  /** The same for another generation: too late, or too early. */
  | { type: 'take other' | 'give back other' | 'fault of other' | 'env.lost other' }
  | { type: 'env.lost' | 'env.jump lost' | 'env.guardian broke' }
  | { type: 'env.directory made' | 'env.directory refused' | 'env.opened' | 'env.refused' }
  | { type: 'env.answered' | 'env.silent' }
  | { type: 'env.freed' | 'env.freed, but held' | 'env.stays' }
  | {
      type:
        | 'env.time.open'
        | 'env.time.idle'
        | 'env.time.probe'
        | 'env.time.drain'
        | 'env.time.grace'
        | 'env.time.force'
        | 'env.time.stuck'
    }

interface Known {
  readonly isExclusive: boolean
  readonly needsDirectory: boolean
  readonly isLeased: boolean
  /** One probe under a lease has failed. */
  readonly isDoubted: boolean
  /** Whether it ends as a failure. */
  readonly hasFailed: boolean
}

const forced = <Action extends 'fail' | 'want'>(actions: Action) => ({ target: '#forced', actions })
const drains = [{ guard: 'isLeased', target: '#finishing' }, { target: '#graceful' }] as const
const ends = [{ guard: 'hasFailed', target: '#failed' }, { target: '#closed' }] as const

/**
 * The contract of one tunnel, from the design and not from the code: opening, open, draining, closed or failed. Any error, deadline,
 * close or loss while opening, and any loss later, begins the release; final is only what has given everything back.
 */
export const tunnelModel = setup({
  types: {} as { context: Known; events: TunnelFact; input: Pick<Known, 'isExclusive' | 'needsDirectory'> },
  actions: {
    /** It ends as a failure; because somebody wanted it to. */
    fail: assign({ hasFailed: true }),
    want: assign({ hasFailed: false }),
    take: assign({ isLeased: true }),
    giveBack: assign({ isLeased: false }),
    doubt: assign({ isDoubted: true }),
    trust: assign({ isDoubted: false }),
  },
  guards: {
    isLeased: ({ context }) => context.isLeased,
    isExclusive: ({ context }) => context.isExclusive,
    needsDirectory: ({ context }) => context.needsDirectory,
    hasFailed: ({ context }) => context.hasFailed,
    mayAskAgain: ({ context }) => context.isLeased && !context.isDoubted,
  },
}).createMachine({
  id: 'model',
  context: ({ input }) => ({ ...input, isLeased: false, isDoubted: false, hasFailed: false }),
  initial: 'opening',
  states: {
    opening: {
      initial: 'beginning',
      on: {
        'env.time.open': forced('fail'),
        'env.lost': forced('fail'),
        'env.jump lost': forced('fail'),
        'env.guardian broke': forced('fail'),
        bug: forced('fail'),
        close: forced('want'),
        hurry: forced('want'),
        destroy: forced('want'),
      },
      states: {
        beginning: { always: [{ guard: 'needsDirectory', target: 'directory' }, { target: 'dialing' }] },
        directory: { on: { 'env.directory made': 'dialing', 'env.directory refused': forced('fail') } },
        dialing: { on: { 'env.opened': '#open', 'env.refused': forced('fail') } },
      },
    },
    open: {
      id: 'open',
      initial: 'idle',
      on: {
        'env.lost': forced('fail'),
        'env.jump lost': forced('fail'),
        'env.guardian broke': forced('fail'),
        bug: forced('fail'),
        destroy: forced('want'),
        close: [...drains],
        hurry: [...drains],
        'fault of a lease': [...drains],
      },
      states: {
        idle: { on: { take: { target: 'leased', actions: 'take' }, verify: 'verifying', 'env.time.idle': '#graceful' } },
        leased: {
          on: {
            verify: 'verifying',
            'give back': [
              { guard: 'isExclusive', target: '#graceful', actions: 'giveBack' },
              { target: 'idle', actions: 'giveBack' },
            ],
          },
        },
        verifying: {
          on: {
            take: { actions: 'take' },
            'give back': [{ guard: 'isExclusive', target: '#graceful', actions: 'giveBack' }, { actions: 'giveBack' }],
            'env.answered': [
              { guard: 'isLeased', target: 'leased', actions: 'trust' },
              { target: 'idle', actions: 'trust' },
            ],
            'env.silent': [{ guard: 'mayAskAgain', actions: 'doubt' }, forced('fail')],
            'env.time.probe': [{ guard: 'mayAskAgain', actions: 'doubt' }, forced('fail')],
          },
        },
      },
    },
    draining: {
      initial: 'finishing',
      on: { bug: '#forced', 'env.guardian broke': '#forced' },
      states: {
        finishing: {
          id: 'finishing',
          on: {
            'give back': { target: '#graceful', actions: 'giveBack' },
            'env.time.drain': '#graceful',
            'env.lost': forced('fail'),
            'env.jump lost': forced('fail'),
            destroy: forced('want'),
          },
        },
        releasing: {
          initial: 'graceful',
          states: {
            graceful: {
              id: 'graceful',
              on: {
                'env.freed': [...ends],
                'env.freed, but held': 'forced',
                'env.stays': 'forced',
                'env.time.grace': 'forced',
                destroy: 'forced',
              },
            },
            forced: {
              id: 'forced',
              on: { 'env.freed': [...ends], 'env.freed, but held': 'forced', 'env.stays': 'stuck', 'env.time.force': 'stuck' },
            },
            stuck: {
              on: { 'env.freed': [...ends], 'env.freed, but held': 'forced', 'env.time.stuck': 'forced', destroy: 'forced' },
            },
          },
        },
      },
    },
    closed: { id: 'closed', type: 'final' },
    failed: { id: 'failed', type: 'final' },
  },
})

/** Any of these may come at any time. */
export const WISHES: readonly TunnelFact[] = (
  [
    'take',
    'give back',
    'fault of a lease',
    'verify',
    'close',
    'hurry',
    'destroy',
    'bug',
    'take other',
    'give back other',
    'fault of other',
    'env.lost other',
    'env.lost',
    'env.jump lost',
    'env.guardian broke',
  ] as const
).map((type) => ({ type }))

const RELEASES = ['env.freed', 'env.freed, but held', 'env.stays'] as const
/** What the world can answer in a state, because something was asked of it or runs there. */
export const ANSWERS: Readonly<Record<string, readonly TunnelFact['type'][]>> = {
  'opening.directory': ['env.directory made', 'env.directory refused', 'env.time.open'],
  'opening.dialing': ['env.opened', 'env.refused', 'env.time.open'],
  'open.idle': ['env.time.idle'],
  'open.verifying': ['env.answered', 'env.silent', 'env.time.probe'],
  'draining.finishing': ['env.time.drain'],
  'draining.releasing.graceful': [...RELEASES, 'env.time.grace'],
  'draining.releasing.forced': [...RELEASES, 'env.time.force'],
  'draining.releasing.stuck': [...RELEASES, 'env.time.stuck'],
}
