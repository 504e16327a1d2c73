import type { AcquireOptions } from '../api/lease.ts'
import { type ResolvedForward, resolveForward } from './forward.ts'
import { checkNames, checkObject, namesOf } from './names.ts'
import { check, duration, flag, label, type Rule, retries, signal } from './rules.ts'

/** What `acquire` was asked for, complete. */
export interface ResolvedAcquireOptions {
  /** Names as given; build objects of them with `Object.fromEntries`. */
  readonly forwards: ReadonlyArray<readonly [name: string, forward: ResolvedForward]>
  readonly signal: AbortSignal | undefined
  readonly timeoutMillis: number
  readonly whenResting: 'reject' | 'wait' | 'dial'
  readonly isExclusive: boolean
  readonly label: string | undefined
  /** Asked by a target for its jump, and not by a user: not counted as waiting or leased, and holding nothing open but the jump. */
  readonly isJump: boolean
  /** Monotonic time since when whoever needs it waits; `undefined`: since it is asked for. */
  readonly since: number | undefined
}

/** What `use` was asked for, complete. */
export interface ResolvedUseOptions {
  readonly acquire: ResolvedAcquireOptions
  readonly retries: number
}

type Given = AcquireOptions & { retries?: number | undefined }

const NO_FORWARDS: ResolvedAcquireOptions['forwards'] = Object.freeze([])
const NAMES = namesOf<AcquireOptions>({
  forwards: true,
  signal: true,
  timeoutMillis: true,
  whenResting: true,
  exclusive: true,
  label: true,
})
const USE_NAMES = new Set([...NAMES, 'retries'])
const whenRestingRule: Rule<ResolvedAcquireOptions['whenResting']> = {
  expected: "'reject', 'wait' or 'dial'",
  accepts: (value): value is ResolvedAcquireOptions['whenResting'] => value === 'reject' || value === 'wait' || value === 'dial',
}

/** What an acquire without options means: made once per pool, so that such an acquire makes nothing. */
export function acquireDefaults(timeoutMillis: number): ResolvedAcquireOptions {
  return Object.freeze({
    forwards: NO_FORWARDS,
    signal: undefined,
    timeoutMillis,
    whenResting: 'reject',
    isExclusive: false,
    label: undefined,
    isJump: false,
    since: undefined,
  })
}

function resolveForwards(given: AcquireOptions['forwards']): ResolvedAcquireOptions['forwards'] {
  if (given === undefined) return NO_FORWARDS
  checkObject('forwards', given, 'an object of forwards by name')
  return Object.entries(given).map(([name, spec]) => [name, resolveForward(spec, `forwards.${name}`)] as const)
}

function complete(given: AcquireOptions, unless: ResolvedAcquireOptions): ResolvedAcquireOptions {
  const { forwards, timeoutMillis, whenResting, exclusive } = given
  return {
    forwards: resolveForwards(forwards),
    signal: given.signal === undefined ? undefined : check(signal, 'signal', given.signal),
    timeoutMillis: timeoutMillis === undefined ? unless.timeoutMillis : check(duration, 'timeoutMillis', timeoutMillis),
    whenResting: whenResting === undefined ? unless.whenResting : check(whenRestingRule, 'whenResting', whenResting),
    isExclusive: exclusive === undefined ? unless.isExclusive : check(flag, 'exclusive', exclusive),
    label: given.label === undefined ? undefined : check(label, 'label', given.label),
    isJump: false,
    since: undefined,
  }
}

/**
 * Checks the options of `acquire`; without any it is `unless` itself. By hand, because it runs for each of 50,000 acquires a second.
 * @throws TunnelError `ERR_INVALID_OPTION`
 */
export function resolveAcquireOptions(given: AcquireOptions | undefined, unless: ResolvedAcquireOptions): ResolvedAcquireOptions {
  if (given === undefined) return unless
  checkNames(checkObject('options', given), NAMES)
  return complete(given, unless)
}

/** Checks the options of `use`. One that may try again waits for a resting destination, unless told otherwise. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveUseOptions(given: Given | undefined, unless: ResolvedAcquireOptions): ResolvedUseOptions {
  if (given === undefined) return { acquire: unless, retries: 0 }
  checkNames(checkObject('options', given), USE_NAMES)
  const times = given.retries === undefined ? 0 : check(retries, 'retries', given.retries)
  return { acquire: complete(given, times > 0 ? { ...unless, whenResting: 'wait' } : unless), retries: times }
}
