import { words } from './destination-words.ts'
import { GIVE_WAY, LEFT, STUCK, successorVerdict } from './judgement.ts'

/** While a successor is in the making the current tunnel serves on; at most one is, and whatever wants another joins it. */
export const succeeding = words.createStateConfig({
  initial: 'deciding',
  exit: 'letJumpGo',
  on: { 'destination.retire': { actions: 'noteForce' } },
  states: {
    deciding: {
      always: [
        { guard: 'hasTooManyStuck', target: 'unsucceeded' },
        { guard: 'hasNoRoom', target: '#dormant', actions: ['closeCurrent', 'demote'] },
        { guard: 'hasJump', target: 'jumping' },
        { target: 'queued' },
      ],
    },
    jumping: {
      invoke: { src: 'jump', input: ({ context }) => ({ id: context.id }), onDone: 'queued', onError: 'unsucceeded' },
    },
    queued: {
      invoke: {
        src: 'admission',
        input: ({ context }) => ({ id: context.id, isFailing: false }),
        onDone: { target: 'opening', actions: [{ type: 'begin', params: ({ event }) => event.output }, 'count', 'dial'] },
        onError: [{ guard: 'isJumpDraining', target: 'jumping' }, { target: 'unsucceeded' }],
      },
    },
    opening: {
      on: {
        'tunnel.opened': {
          guard: 'isDialing',
          target: '#serving',
          reenter: true,
          actions: ['closeCurrent', 'promote'],
        },
        'tunnel.draining': { guard: 'isCurrent', target: '#opening', actions: 'demote' },
        'tunnel.stuck': successorVerdict(STUCK),
        'tunnel.ended': [...successorVerdict(LEFT), { guard: 'isCurrent', target: '#opening', actions: ['demote', ...LEFT] }],
      },
    },
    unsucceeded: {
      always: [
        { guard: 'mustGo', target: '#dormant', actions: GIVE_WAY },
        { target: '#steady', actions: 'failSuccession' },
      ],
    },
  },
})
