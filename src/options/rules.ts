import { isAbsolute } from 'node:path'
import { invalidOption } from './invalid.ts'

/** What one value must be, and how to say so: "Expected `name` to be …". */
export interface Rule<T> {
  readonly expected: string
  accepts(value: unknown): value is T
}

/** The value, when the rule accepts it. @throws TunnelError `ERR_INVALID_OPTION` */
export function check<T>(rule: Rule<T>, name: string, value: unknown): T {
  if (rule.accepts(value)) return value
  throw invalidOption(name, rule.expected, value)
}

const rule = <T>(expected: string, accepts: (value: unknown) => boolean): Rule<T> => ({
  expected,
  accepts: accepts as (value: unknown) => value is T,
})
const isIntegerFrom = (least: number, value: unknown) => Number.isSafeInteger(value) && (value as number) >= least

/** 0 is at once, Infinity is never. */
export const duration = rule<number>(
  'a non-negative number of milliseconds or Infinity',
  (value) => typeof value === 'number' && value >= 0,
)
export const count = rule<number>('a positive integer', (value) => isIntegerFrom(1, value))
export const limit = rule<number>('a positive integer or Infinity', (value) => value === Infinity || isIntegerFrom(1, value))
/** A limit that may leave no room at all. */
export const room = rule<number>('a non-negative integer or Infinity', (value) => value === Infinity || isIntegerFrom(0, value))
export const retries = rule<number>('a non-negative integer', (value) => isIntegerFrom(0, value))
export const port = rule<number>('a port from 1 to 65535', (value) => isIntegerFrom(1, value) && (value as number) <= 65_535)
export const listenPort = rule<number>(
  'a port from 1 to 65535, or 0 for any free one',
  (value) => isIntegerFrom(0, value) && (value as number) <= 65_535,
)
export const flag = rule<boolean>('true or false', (value) => typeof value === 'boolean')
export const signal = rule<AbortSignal>('an AbortSignal', (value) => value instanceof AbortSignal)
export const transport = rule<'ssh2' | 'openssh'>("'ssh2' or 'openssh'", (value) => value === 'ssh2' || value === 'openssh')
/** Shown to people in logs and reports, where a control character or a bidirectional override could forge a line. */
export const label = rule<string>(
  'at most 200 printable characters',
  (value) => typeof value === 'string' && value.length <= 200 && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(value),
)
/** A NUL ends a path early in the kernel, or begins Linux's abstract names, which have no permissions. */
export const path = rule<string>(
  'a path without NUL',
  (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
)
export const absolutePath = rule<string>('an absolute path without NUL', (value) => path.accepts(value) && isAbsolute(value))
