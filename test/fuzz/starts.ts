import { type Act, send } from './acts.ts'

/** Where a run begins: what random events seldom lead to. */
const want = send({ type: 'dial.wanted' })
const unwant = send({ type: 'dial.unwanted' })
const force = send({ type: 'dial.forced' })
const reset = send({ type: 'destination.reset' })
const retire = send({ type: 'destination.retire', force: false })
const to = (...acts: Array<Act['do'] | Act>): Act[] => acts.map((one) => (typeof one === 'string' ? ({ do: one } as Act) : one))
const pass = (millis: number): Act => ({ do: 'pass', millis })
const fail = (code: string): Act => ({ do: 'fail', code })
const stay: Act = { do: 'stay', on: true }
const kept: Act = { do: 'world', is: 'isKept', on: true }
const up = to(want, 'jump', 'admit', 'open', unwant)
const stuckOnce = to(want, 'jump', 'admit', 'open', stay, 'lose', pass(1_100), pass(300), pass(61_000))
const stuck = [...stuckOnce, ...stuckOnce, ...stuckOnce]
const down = to(want, 'jump', 'admit', fail('ERR_REFUSED'))
const shut = to(want, 'jump', 'admit', fail('ERR_HOST_KEY'), unwant)
const succeeds = [...up, retire, ...to('jump', 'admit')]
/** Three exclusive ones that are lost and, from the next second on, will not die. */
const doomed = [stay, ...to('exclusive', 'open', 'lose', 'exclusive', 'open', 'lose', 'exclusive', 'open', 'lose')]
const leave = send({ type: 'destination.leave', withinMillis: 1_000, graceMillis: 100, reason: 'left' })
/** Each leads to a transition that is taken seldom. */
export const starts: ReadonlyArray<readonly Act[]> = [
  [],
  up,
  stuck,
  [...stuck, want],
  [...stuck, ...to('exclusive')],
  [...down, ...stuck, force],
  [...down, pass(1_100)],
  [...down, force, pass(1_100)],
  [...down, pass(1_100), force],
  [...shut, pass(301_000)],
  [...shut, pass(301_000), pass(601_000)],
  [...shut, pass(301_000), kept, pass(601_000)],
  [...shut, pass(301_000), ...to('exclusive'), pass(601_000)],
  [...shut, pass(301_000), force, unwant, pass(1_100)],
  [...shut, pass(301_000), force, ...to('no jump')],
  [...shut, pass(301_000), ...to('exclusive'), stay, fail('ERR_REFUSED'), pass(1_100)],
  [kept, pass(601_000)],
  [...up, ...to('prove')],
  [...up, pass(31_000), pass(1)],
  [...succeeds, ...to('open')],
  [...succeeds, stay, fail('ERR_HOST_KEY'), pass(1_100)],
  [...succeeds, stay, fail('ERR_REFUSED'), pass(1_100)],
  [...succeeds, send({ type: 'destination.retire', force: true }), stay, fail('ERR_REFUSED'), pass(1_100)],
  [...succeeds, send({ type: 'destination.retire', force: true }), fail('ERR_REFUSED')],
  [...succeeds, fail('ERR_HOST_KEY')],
  [...up, pass(31_000), ...to('jump', 'admit'), fail('ERR_REFUSED'), pass(31_000)],
  [...up, retire, ...to('jump', 'jump drains', 'jump', 'admit', 'lose first')],
  [...succeeds, ...to('lose first')],
  [
    ...to(
      want,
      'jump',
      'jump drains',
      'jump',
      'jump lost',
      'jump lost',
      'jump',
      'admit',
      'open',
      'lose',
      'jump',
      'admit',
      'open',
      'lose',
    ),
    pass(300),
  ],
  to(want, 'jump', 'admit', stay, 'jump lost', pass(1_100)),
  [...to(want, 'jump', 'admit', stay), fail('ERR_HOST_KEY'), pass(1_100)],
  to(want, 'jump', 'admit', stay, 'close', pass(1_100)),
  to(want, 'jump', 'admit', 'jump lost'),
  [...up, ...doomed, pass(1_000), retire],
  [...down, ...to('exclusive'), fail('ERR_HOST_KEY')],
  [...down, stay, ...to('exclusive'), fail('ERR_HOST_KEY'), pass(1_000)],
  [...doomed, ...down, pass(1_000), force, pass(1_100)],
  [...doomed, ...down, pass(1_000), pass(1_100), force],
  [...doomed, ...shut, pass(1_000), pass(301_000), force],
  [...up, stay, leave, ...to('exclusive'), leave, send({ type: 'destination.fault', message: 'a bug' })],
  [...to('exclusive'), fail('ERR_HOST_KEY')],
  [stay, ...to('exclusive'), fail('ERR_HOST_KEY'), pass(1_000)],
  [stay, ...to('exclusive'), fail('ERR_REFUSED'), pass(1_000)],
  [{ do: 'world', is: 'isIdle', on: true }, ...up, pass(31_000)],
  [{ do: 'world', is: 'mayDialNow', on: false }, ...to(want)],
  [...up, ...to('lose', want, 'jump', 'admit', 'open', 'lose', 'jump', 'admit', 'open', 'lose')],
  [...to('exclusive'), fail('ERR_REFUSED'), unwant],
  [want, unwant, pass(1_100), pass(601_000)],
  [...to('exclusive', 'open'), pass(601_000)],
  to(want, 'no jump'),
  to(want, 'jump', 'not admitted'),
  [...to(want, 'jump', 'admit'), retire, ...to('open')],
  to(want, 'jump', 'admit', 'close'),
  [{ do: 'world', is: 'mayDialNow', on: false }, want, pass(300)],
  [...up, want, force],
  [...up, retire, pass(31_000)],
  [{ do: 'world', is: 'hasNoRoom', on: true }, ...up, retire],
  [...up, retire, ...to('no jump')],
  [...up, retire, ...to('jump', 'not admitted')],
  [...up, send({ type: 'destination.retire', force: true }), ...to('jump', 'not admitted')],
  [...to('exclusive'), ...down, unwant, ...to('open first')],
  [...down, reset],
  [...to('exclusive'), ...shut, want, ...to('open first')],
  [...shut, reset],
  [...shut, pass(301_000), ...to('exclusive'), fail('ERR_REFUSED')],
  [...to(want, 'jump', 'admit'), fail('ERR_AUTH'), pass(31_000), pass(61_000), reset],
  [...up, send({ type: 'destination.fault', message: 'a bug' })],
  [unwant],
]
