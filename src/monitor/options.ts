import type { HealthCheck } from '../api/monitor.ts'
import { TunnelError } from '../errors.ts'
import { unknownName } from '../options/names.ts'

const DEFAULT_INTERVAL_MILLIS = 4_000
const DEFAULT_TIMEOUT_MILLIS = 3_000

/** A check with nothing left open. */
export interface ResolvedCheck extends Pick<HealthCheck, 'to' | 'path' | 'check'> {
  readonly id: string
  readonly target: HealthCheck['target']
  readonly intervalMillis: number
  readonly timeoutMillis: number
  readonly healthyAfter: number
  readonly unhealthyAfter: number
}

const NAMES: ReadonlySet<string> = new Set<keyof HealthCheck>([
  'id',
  'target',
  'to',
  'path',
  'check',
  'intervalMillis',
  'timeoutMillis',
  'healthyAfter',
  'unhealthyAfter',
])
const OPTIONS: ReadonlySet<string> = new Set(['checks', 'maxConcurrent'])

const wrong = (name: string, expected: string) =>
  new TunnelError('ERR_INVALID_OPTION', `Expected \`${name}\` of a health check to be ${expected}`)

function object(given: unknown, names: ReadonlySet<string>, what: string): void {
  if (typeof given !== 'object' || given === null) throw new TunnelError('ERR_INVALID_OPTION', `Expected ${what} to be an object`)
  for (const name in given) if (!names.has(name)) throw unknownName(name, names)
}

function millis(name: 'intervalMillis' | 'timeoutMillis', given: number | undefined, unless: number): number {
  if (given === undefined) return unless
  if (typeof given === 'number' && given > 0 && given < 2 ** 31) return given
  throw wrong(name, 'a number of milliseconds above 0 and below 2^31')
}

function inARow(name: 'healthyAfter' | 'unhealthyAfter', given: number | undefined, unless: number): number {
  if (given === undefined) return unless
  if (Number.isSafeInteger(given) && given > 0) return given
  throw wrong(name, 'a positive integer')
}

/** Checks and completes a health check. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveCheck(given: HealthCheck): ResolvedCheck {
  object(given, NAMES, 'a health check')
  const { id, target, to, path, check } = given
  if (typeof id !== 'string' || id === '') throw wrong('id', 'a non-empty string')
  if (path !== undefined && (typeof path !== 'string' || !/^\/[!-~]*$/.test(path)))
    throw wrong('path', 'an HTTP path that begins with /, of printable ASCII')
  if (path !== undefined && to === undefined) throw wrong('to', 'given with `path`: where the HTTP server listens')
  if (check !== undefined && typeof check !== 'function') throw wrong('check', 'a function')
  if (check !== undefined && path !== undefined) throw wrong('check', 'left out with `path`: it is one or the other')
  const intervalMillis = millis('intervalMillis', given.intervalMillis, DEFAULT_INTERVAL_MILLIS)
  return {
    id,
    target,
    to,
    path,
    check,
    intervalMillis,
    timeoutMillis: millis('timeoutMillis', given.timeoutMillis, Math.min(intervalMillis, DEFAULT_TIMEOUT_MILLIS)),
    healthyAfter: inARow('healthyAfter', given.healthyAfter, 1),
    unhealthyAfter: inARow('unhealthyAfter', given.unhealthyAfter, 3),
  }
}

/** Checks the options of a monitor. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveMonitorOptions(given: {
  checks?: readonly HealthCheck[] | undefined
  maxConcurrent?: number | undefined
}): { checks: readonly HealthCheck[]; maxConcurrent: number } {
  object(given, OPTIONS, 'the options of a monitor')
  const { checks = [], maxConcurrent = 1_000 } = given
  if (!Array.isArray(checks)) throw new TunnelError('ERR_INVALID_OPTION', 'Expected `checks` to be an array')
  if (maxConcurrent !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(maxConcurrent) && maxConcurrent > 0))
    throw new TunnelError('ERR_INVALID_OPTION', 'Expected `maxConcurrent` to be a positive integer or Infinity')
  return { checks, maxConcurrent }
}
