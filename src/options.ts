import type { PoolOptions } from './api/options.ts'
import type { TunnelError } from './errors.ts'
import { invalidOption } from './options/invalid.ts'
import { checkObject, unknownName } from './options/names.ts'
import { type Issue, POOL_RULES, parse } from './options/schema.ts'

type MayBeAbsent = 'runtimeDirectory' | 'sshPath' | 'logger'

/** A pool's options, complete, checked and frozen. */
export type ResolvedPoolOptions = {
  readonly [Name in keyof PoolOptions]-?: Name extends MayBeAbsent ? PoolOptions[Name] : NonNullable<PoolOptions[Name]>
} & {
  /** Whether `maxOpening` was given: if not, its value is the one of ssh2, and another transport may have its own. */
  readonly isMaxOpeningGiven: boolean
}

const DEFAULTS: ResolvedPoolOptions = Object.freeze({
  transport: 'ssh2',
  maxTunnels: 10_000,
  maxConnecting: 512,
  maxOpening: 8,
  isMaxOpeningGiven: false,
  maxOpeningPerAddress: 8,
  maxWaiting: 10_000,
  acquireTimeoutMillis: 15_000,
  openTimeoutMillis: 10_000,
  channelTimeoutMillis: 5_000,
  idleTimeoutMillis: 120_000,
  verifyAfterMillis: 10_000,
  maxLifetimeMillis: Infinity,
  drainTimeoutMillis: 10_000,
  closeGraceMillis: 1_000,
  keepAliveIntervalMillis: 10_000,
  keepAliveCountMax: 3,
  backoffMinMillis: 250,
  backoffMaxMillis: 30_000,
  barredRetryMillis: 300_000,
  maxBufferedBytes: 268_435_456,
  shareJumps: true,
  holdSession: false,
  runtimeDirectory: undefined,
  sshPath: undefined,
  logger: undefined,
  closeOnSignals: Object.freeze([]),
  traceLeases: false,
})
const NAMES: ReadonlySet<string> = new Set([...Object.keys(POOL_RULES), 'closeOnSignals'])

function refusal(issue: Issue, given: PoolOptions): TunnelError {
  let value: unknown = given
  for (const step of issue.path) value = (value as Record<PropertyKey, unknown>)[step]
  const [name = '', ...rest] = issue.path.map(String)
  if (issue.expected === undefined) return unknownName(name, NAMES)
  return invalidOption(`${name}${rest.map((index) => `[${index}]`).join('')}`, issue.expected, value)
}

/**
 * Checks and completes a pool's options, once; past this nothing is optional.
 * @throws TunnelError `ERR_INVALID_OPTION` that names the option
 */
export function resolvePoolOptions(given?: PoolOptions): ResolvedPoolOptions {
  if (given === undefined) return DEFAULTS
  const parsed = parse(checkObject('options', given) as PoolOptions)
  if ('issue' in parsed) throw refusal(parsed.issue, given)
  const named = Object.fromEntries(
    Object.entries(parsed.options).filter(([, value]) => value !== undefined),
  ) as Partial<ResolvedPoolOptions>
  const options = { ...DEFAULTS, ...named, isMaxOpeningGiven: named.maxOpening !== undefined }
  if (options.backoffMinMillis > options.backoffMaxMillis) {
    throw invalidOption(
      'backoffMinMillis',
      `at most \`backoffMaxMillis\` (${options.backoffMaxMillis})`,
      options.backoffMinMillis,
    )
  }
  return Object.freeze({ ...options, closeOnSignals: Object.freeze([...new Set(options.closeOnSignals)]) })
}
