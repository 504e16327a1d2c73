import { words } from './destination-words.ts'
import { LEFT, STUCK, UNADMITTED, verdict } from './judgement.ts'

/** From a wish to a tunnel: spread or paused after losses, then the jump if there is one, then a place in which to dial, then the dial. */
export const dialing = words.createStateConfig({
  id: 'dialing',
  entry: ['calm', 'stay'],
  exit: 'letJumpGo',
  initial: 'spreading',
  on: {
    'dial.wanted': { actions: ['want', 'stay'] },
    'dial.forced': { actions: ['want', 'stay'] },
    'dial.unwanted': { actions: ['unwant', 'linger'] },
    'dial.lingered': [
      { guard: 'isBarred', target: 'barred', actions: ['closeDialing', 'drop'] },
      { target: 'dormant', actions: ['closeDialing', 'drop'] },
    ],
    'destination.retire': { actions: 'spoil' },
  },
  states: {
    spreading: {
      always: [
        { guard: 'isVain', target: 'pausing' },
        { guard: 'mayDialNow', target: 'approaching' },
      ],
      after: { spread: 'approaching' },
    },
    pausing: { after: { pause: 'approaching' } },
    approaching: { always: [{ guard: 'hasJump', target: 'jumping' }, { target: 'queued' }] },
    jumping: {
      invoke: {
        src: 'jump',
        input: ({ context }) => ({ id: context.id }),
        onDone: 'queued',
        onError: [{ guard: 'isBarred', target: '#barred' }, { target: '#dormant' }],
      },
    },
    queued: {
      invoke: {
        src: 'admission',
        input: ({ context }) => ({ id: context.id, isFailing: context.failures > 0 }),
        onDone: { target: 'opening', actions: [{ type: 'begin', params: ({ event }) => event.output }, 'count', 'dial'] },
        onError: [
          { guard: 'isJumpLost', target: 'spreading', actions: 'countVain' },
          { guard: 'isJumpDraining', target: 'approaching' },
          { target: '#resting', actions: UNADMITTED },
        ],
      },
    },
    opening: {
      id: 'opening',
      on: {
        'tunnel.opened': [
          { guard: 'isStaleDial', target: '#dormant', actions: ['lift', 'closeStale', 'drop'] },
          { guard: 'isDialing', target: '#serving', actions: 'promote' },
        ],
        'tunnel.stuck': verdict(STUCK),
        'tunnel.ended': verdict(LEFT),
      },
    },
  },
})
