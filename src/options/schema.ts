import { createRequire } from 'node:module'
import { constants } from 'node:os'
import type * as Mini from 'zod/mini'
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

function build() {
  // Every entry of zod takes 38 to 57 ms to import, xstate 16: it is loaded when the first pool with options is made, not with the package.
  const z = createRequire(import.meta.url)('zod/mini') as typeof Mini
  const value = <T>(rule: Rule<T>) => z.custom<T>((given) => rule.accepts(given), rule.expected)
  const shape = Object.fromEntries(Object.entries(POOL_RULES).map(([name, rule]) => [name, z.optional(value<unknown>(rule))]))
  return z.strictObject({ ...shape, closeOnSignals: z.optional(z.array(value(signalName), 'an array of signal names')) })
}

let schema: ReturnType<typeof build> | undefined

/** What zod found wrong. */
export type Issue = Mini.core.$ZodIssue

/** Checks a pool's options, each by its rule, and copies them. */
export function parse(given: PoolOptions): { options: PoolOptions } | { issue: Issue } {
  schema ??= build()
  const { data, error } = schema.safeParse(given)
  const issue = error?.issues[0]
  return issue === undefined ? { options: data as PoolOptions } : { issue }
}
