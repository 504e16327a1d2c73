import { constants } from 'node:os'
import { array, custom, optional, safeParse, strictObject } from 'valibot'
import type { Logger, PoolOptions } from '../api/options.ts'
import { absolutePath, count, duration, flag, limit, type Rule, room, transport } from './rules.ts'

const logger: Rule<Logger> = {
  expected: 'an object with a `log` function',
  accepts: (value): value is Logger => typeof (value as Partial<Logger> | null)?.log === 'function',
}
/** These two cannot be caught: process.on throws EINVAL for them. */
const UNCATCHABLE: ReadonlySet<string> = new Set(['SIGKILL', 'SIGSTOP'])
const signalName: Rule<NodeJS.Signals> = {
  expected: 'the name of a signal that can be caught',
  accepts: (value): value is NodeJS.Signals =>
    typeof value === 'string' && Object.hasOwn(constants.signals, value) && !UNCATCHABLE.has(value),
}

/** What each option of a pool must be. */
export const POOL_RULES = {
  transport,
  maxTunnels: limit,
  maxConnecting: limit,
  maxOpening: limit,
  maxOpeningPerAddress: limit,
  maxWaiting: room,
  acquireTimeoutMillis: duration,
  openTimeoutMillis: duration,
  channelTimeoutMillis: duration,
  idleTimeoutMillis: duration,
  verifyAfterMillis: duration,
  maxLifetimeMillis: duration,
  drainTimeoutMillis: duration,
  closeGraceMillis: duration,
  keepAliveIntervalMillis: duration,
  keepAliveCountMax: count,
  backoffMinMillis: duration,
  backoffMaxMillis: duration,
  barredRetryMillis: duration,
  maxBufferedBytes: limit,
  shareJumps: flag,
  holdSession: flag,
  runtimeDirectory: absolutePath,
  sshPath: absolutePath,
  logger,
  traceLeases: flag,
} as const satisfies { [Name in Exclude<keyof PoolOptions, 'closeOnSignals'>]-?: Rule<NonNullable<PoolOptions[Name]>> }

const value = <T>(rule: Rule<T>) => custom<T>((given) => rule.accepts(given), rule.expected)

const schema = strictObject({
  ...Object.fromEntries(Object.entries(POOL_RULES).map(([name, rule]) => [name, optional(value<unknown>(rule))])),
  closeOnSignals: optional(array(value(signalName), 'an array of signal names')),
})

/** The first thing that is wrong with a pool's options. */
export interface Issue {
  /** From the option inwards. */
  readonly path: readonly PropertyKey[]
  /** What is expected there; `undefined`: there is no option of that name. */
  readonly expected: string | undefined
}

/** Checks a pool's options, each by its rule, and copies them. */
export function parse(given: PoolOptions): { options: PoolOptions } | { issue: Issue } {
  const { output, issues } = safeParse(schema, given, { abortEarly: true })
  const issue = issues?.[0]
  if (issue === undefined) return { options: output as PoolOptions }
  const isUnknown = issue.type === 'strict_object'
  const path = (issue.path ?? []).map(({ key }) => key as PropertyKey)
  return { issue: { path, expected: isUnknown ? undefined : issue.message } }
}
