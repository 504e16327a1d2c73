import { setup } from 'xstate'

/** What can happen to a pool: wishes of its user, and facts of the world. */
export type PoolFact = { [Name in FactName]: { type: Name } }[FactName]
type FactName =
  | 'close'
  | 'hurry'
  | 'destroy'
  | 'bug'
  | 'env.registry broke'
  | 'env.emptied'
  | 'env.freed'
  | 'env.stays'
  | 'env.time.drain'
  | 'env.time.grace'
  | 'env.time.retry'

/**
 * The contract of a pool, from the design: it closes by draining its destinations within a bound, then by force, and is closed when
 * the registry is empty and its own directory gone; what will not go is tried for ever.
 */
export const poolModel = setup({ types: {} as { events: PoolFact } }).createMachine({
  id: 'model',
  initial: 'serving',
  states: {
    serving: {
      on: { close: 'draining', hurry: 'draining', destroy: '#forcing', bug: '#forcing', 'env.registry broke': '#forcing' },
    },
    draining: {
      on: {
        'env.emptied': '#freeing',
        'env.time.drain': '#forcing',
        destroy: '#forcing',
        bug: '#forcing',
        'env.registry broke': '#forcing',
      },
    },
    destroying: {
      initial: 'forcing',
      states: {
        forcing: { id: 'forcing', on: { 'env.emptied': 'freeing' } },
        freeing: {
          id: 'freeing',
          on: { 'env.freed': '#closed', 'env.stays': 'forced', 'env.time.grace': 'forced', destroy: 'forced', bug: 'forced' },
        },
        forced: { on: { 'env.freed': '#closed', 'env.stays': 'holding', 'env.time.retry': 'holding', bug: 'holding' } },
        holding: { on: { 'env.freed': '#closed', 'env.time.retry': 'forced', bug: '#forcing' } },
      },
    },
    closed: { id: 'closed', type: 'final' },
  },
})

/** Any of these may come at any time. */
export const WISHES: readonly PoolFact[] = (['close', 'hurry', 'destroy', 'bug'] as const).map((type) => ({ type }))

/** What the world can answer in a state. */
export const ANSWERS: Readonly<Record<string, readonly PoolFact['type'][]>> = {
  serving: ['env.registry broke'],
  draining: ['env.emptied', 'env.time.drain', 'env.registry broke'],
  'destroying.forcing': ['env.emptied'],
  'destroying.freeing': ['env.freed', 'env.stays', 'env.time.grace'],
  'destroying.forced': ['env.freed', 'env.stays', 'env.time.retry'],
  'destroying.holding': ['env.freed', 'env.stays', 'env.time.retry'],
}
