import fc from 'fast-check'
import type { DestinationEvent } from '../../machines/events.ts'

const CODES = ['ERR_REFUSED', 'ERR_AUTH', 'ERR_HOST_KEY', 'ERR_AUTH'] as const
const WAITS = [100, 300, 1_100, 5_000, 31_000, 61_000, 301_000, 601_000] as const

/** One thing that happens to a destination. */
export type Act =
  | { readonly do: 'send'; readonly event: DestinationEvent }
  | {
      readonly do:
        | 'admit'
        | 'open'
        | 'open first'
        | 'lose'
        | 'lose first'
        | 'close'
        | 'take'
        | 'jump'
        | 'no jump'
        | 'not admitted'
        | 'jump lost'
        | 'jump drains'
        | 'prove'
        | 'free'
    }
  | { readonly do: 'fail'; readonly code: string }
  | { readonly do: 'pass'; readonly millis: number }
  | { readonly do: 'stay'; readonly on: boolean }
  | { readonly do: 'world'; readonly is: 'mayDialNow' | 'hasNoRoom' | 'isIdle' | 'isKept'; readonly on: boolean }
  | { readonly do: 'exclusive' }

/** An event that its machine is sent. */
export const send = (event: DestinationEvent): Act => ({ do: 'send', event })
/** What its user may want. */
export const wishes: readonly Act[] = [
  send({ type: 'dial.wanted' }),
  send({ type: 'dial.unwanted' }),
  send({ type: 'dial.forced' }),
  send({ type: 'destination.retire', force: false }),
  send({ type: 'destination.retire', force: true }),
  send({ type: 'destination.reset' }),
  { do: 'exclusive' },
]
/** What comes late, or from nowhere: it must change nothing that matters. */
/** Late, or from nowhere. */
export const strays: readonly Act[] = (
  [
    { type: 'tunnel.opened', generation: 10_000 },
    { type: 'tunnel.proven', generation: 10_000 },
    { type: 'tunnel.draining', generation: 10_000, code: undefined, wasOpen: true },
    { type: 'tunnel.ended', generation: 10_000, code: 'ERR_LOST', wasOpen: true },
  ] as const
).map(send)
/** How it may be told to go. */
export const ends: readonly Act[] = [
  send({ type: 'destination.leave', withinMillis: 1_000, graceMillis: 100, reason: 'left' }),
  send({ type: 'destination.destroy', reason: 'destroyed' }),
  send({ type: 'destination.fault', message: 'a bug' }),
]
/** Any of them. */
export const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...wishes) },
  { weight: 6, arbitrary: fc.constantFrom<Act>({ do: 'admit' }, { do: 'jump' }) },
  { weight: 5, arbitrary: fc.constant<Act>({ do: 'open' }) },
  { weight: 4, arbitrary: fc.constantFrom(...CODES).map((code): Act => ({ do: 'fail', code })) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Act>({ do: 'lose' }, { do: 'close' }, { do: 'take' }, { do: 'free' }, { do: 'jump lost' }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Act>({ do: 'no jump' }, { do: 'not admitted' }, { do: 'jump drains' }, { do: 'prove' }),
  },
  { weight: 5, arbitrary: fc.constantFrom(...WAITS).map((millis): Act => ({ do: 'pass', millis })) },
  { weight: 2, arbitrary: fc.boolean().map((on): Act => ({ do: 'stay', on })) },
  {
    weight: 2,
    arbitrary: fc.record<Act & { do: 'world' }>({
      do: fc.constant('world' as const),
      is: fc.constantFrom('mayDialNow' as const, 'hasNoRoom' as const, 'isIdle' as const, 'isKept' as const),
      on: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom(...strays) },
)
