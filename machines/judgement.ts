import { codeOf, words } from './destination-words.ts'

/** Refused logins bar a destination only when the first of them is this old: a new machine's keys may still be on their way. */
const AUTH_AGE_MILLIS = 60_000

const ageAuth = words.enqueueActions(({ context, event, enqueue }) => {
  if (context.authFailures !== 1 || codeOf(event) !== 'ERR_AUTH') return
  enqueue.raise({ type: 'auth.aged' }, { delay: AUTH_AGE_MILLIS, id: 'age' })
})

/** What becomes of a tunnel: final, it goes; if it will not die, it is kept in mind. */
export const LEFT = ['depart', 'bury', 'unlink'] as const
export const STUCK = ['markStuck', 'announceStuck'] as const
type Fate = typeof LEFT | typeof STUCK

/** No tunnel was even begun. */
export const UNADMITTED = ['failWaiters', 'countFailure'] as const
const FAILED = ['failWaiters', 'countFailure', ageAuth, 'drop'] as const
const EXCLUSIVE_FAILED = ['failExclusive', 'countFailure', ageAuth] as const
/** The current tunnel makes way although no successor has opened. */
export const GIVE_WAY = ['closeCurrent', 'demote', 'failSuccession'] as const

/** How a dial that came to nothing is judged. */
export const verdict = (fate: Fate) =>
  [
    { guard: 'isAborted', target: '#dormant', actions: ['drop', ...fate] },
    { guard: 'isJumpsFault', target: '#dormant', actions: ['countVain', 'drop', ...fate] },
    { guard: 'isPermanent', target: '#barred', actions: [...FAILED, ...fate] },
    { guard: 'isDialing', target: '#resting', actions: [...FAILED, ...fate] },
  ] as const

/** The same for a dial that was to succeed the current tunnel. */
export const successorVerdict = (fate: Fate) =>
  [
    { guard: 'isHostKey', target: '#barred', actions: [...GIVE_WAY, ...FAILED, ...fate] },
    { guard: 'mustGoNow', target: '#dormant', actions: [...GIVE_WAY, 'drop', ...fate] },
    { guard: 'isDialing', target: '#steady', actions: ['failSuccession', 'drop', ...fate] },
  ] as const

/** The same for the dial of an exclusive tunnel where it is the only one under way. */
export const exclusiveVerdict = (fate: Fate) =>
  [
    { guard: 'isExclusiveBar', target: '#barred', actions: [...EXCLUSIVE_FAILED, ...fate] },
    { guard: 'isExclusiveFailure', target: '#resting', actions: [...EXCLUSIVE_FAILED, ...fate] },
  ] as const

/** An exclusive tunnel that fails while others were just seen to fail tells nothing new, unless that no retry mends it. */
export const exclusiveBar = (fate: Fate) => exclusiveVerdict(fate)[0]
