import assert from 'node:assert/strict'
import type { PoolOptions } from '../../src/api/options.ts'
import { TunnelError } from '../../src/errors.ts'
import { resolvePoolOptions } from '../../src/options.ts'

const refuses = (given: unknown, message: string | RegExp, code = 'ERR_INVALID_OPTION') =>
  assert.throws(
    () => resolvePoolOptions(given as PoolOptions),
    (error) => {
      assert.ok(TunnelError.is(error))
      assert.equal(error.code, code)
      if (typeof message === 'string') assert.equal(error.message, message)
      else assert.match(error.message, message)
      return true
    },
  )

const DURATIONS = [
  ...[
    'acquireTimeoutMillis',
    'openTimeoutMillis',
    'channelTimeoutMillis',
    'idleTimeoutMillis',
    'verifyAfterMillis',
    'maxLifetimeMillis',
  ],
  ...['drainTimeoutMillis', 'closeGraceMillis', 'keepAliveIntervalMillis', 'barredRetryMillis'],
] as const
const LIMITS = ['maxTunnels', 'maxConnecting', 'maxOpening', 'maxOpeningPerAddress', 'maxBufferedBytes'] as const

describe('resolvePoolOptions', () => {
  const defaults = {
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
    closeOnSignals: [],
    traceLeases: false,
  }

  it('completes nothing at all, an empty object and undefined values to the defaults', () => {
    assert.deepEqual(resolvePoolOptions(), defaults)
    assert.deepEqual(resolvePoolOptions({}), defaults)
    assert.deepEqual(resolvePoolOptions({ maxTunnels: undefined, logger: undefined, closeOnSignals: undefined }), defaults)
  })

  it('keeps what is given, and says whether `maxOpening` was', () => {
    const logger = { log() {} }
    const given = {
      maxOpening: 8,
      maxWaiting: 0,
      logger,
      runtimeDirectory: '/run/warren',
      closeOnSignals: ['SIGTERM', 'SIGINT', 'SIGTERM'],
      traceLeases: true,
    } as const
    const options = resolvePoolOptions(given)
    assert.deepEqual(options, { ...defaults, ...given, closeOnSignals: ['SIGTERM', 'SIGINT'], isMaxOpeningGiven: true })
    assert.equal(options.logger, logger)
  })

  it('is frozen and does not follow later changes of what was given', () => {
    const closeOnSignals: NodeJS.Signals[] = ['SIGTERM']
    const options = resolvePoolOptions({ closeOnSignals })
    closeOnSignals.push('SIGINT')
    assert.deepEqual(options.closeOnSignals, ['SIGTERM'])
    assert.ok(Object.isFrozen(options) && Object.isFrozen(options.closeOnSignals))
    assert.ok(Object.isFrozen(resolvePoolOptions()) && Object.isFrozen(resolvePoolOptions().closeOnSignals))
  })

  for (const name of DURATIONS) {
    it(`takes 0, fractions and Infinity for ${name}, and no other kind of value`, () => {
      for (const value of [0, 0.5, Infinity]) assert.equal(resolvePoolOptions({ [name]: value })[name], value)
      refuses({ [name]: -1 }, `Expected \`${name}\` to be a non-negative number of milliseconds or Infinity, got \`-1\` (number)`)
      refuses({ [name]: Number.NaN }, /got `NaN` \(number\)$/)
      refuses({ [name]: '10' }, /got `"10"` \(string\)$/)
      refuses({ [name]: null }, /got `null`$/)
      refuses({ [name]: 10n }, /got `10` \(bigint\)$/)
    })
  }

  for (const name of LIMITS) {
    it(`takes positive integers and Infinity for ${name}`, () => {
      for (const value of [1, 7, Infinity]) assert.equal(resolvePoolOptions({ [name]: value })[name], value)
      for (const value of [0, -1, 1.5, Number.NaN, '8', true, -Infinity])
        refuses({ [name]: value }, new RegExp(`^Expected \`${name}\` to be a positive integer or Infinity`))
    })
  }

  it('lets nobody wait when told so, but not fewer', () => {
    for (const value of [0, 1, Infinity]) assert.equal(resolvePoolOptions({ maxWaiting: value }).maxWaiting, value)
    for (const value of [-1, 0.5])
      refuses({ maxWaiting: value }, /^Expected `maxWaiting` to be a non-negative integer or Infinity/)
  })

  it('wants a finite number of unanswered keepalives, so that a dead peer is found', () => {
    for (const value of [0, Infinity, 2.5])
      refuses({ keepAliveCountMax: value }, /^Expected `keepAliveCountMax` to be a positive integer, got/)
  })

  it('wants the least back-off to be no longer than the longest, given or default', () => {
    assert.equal(resolvePoolOptions({ backoffMinMillis: 5, backoffMaxMillis: 5 }).backoffMaxMillis, 5)
    refuses(
      { backoffMinMillis: 60_000 },
      'Expected `backoffMinMillis` to be at most `backoffMaxMillis` (30000), got `60000` (number)',
    )
    refuses({ backoffMaxMillis: 100 }, 'Expected `backoffMinMillis` to be at most `backoffMaxMillis` (100), got `250` (number)')
  })

  for (const [name, value, message] of [
    ['transport', 'telnet', "Expected `transport` to be 'ssh2' or 'openssh', got `\"telnet\"` (string)"],
    ['shareJumps', 1, 'Expected `shareJumps` to be true or false, got `1` (number)'],
    ['logger', { info() {} }, 'Expected `logger` to be an object with a `log` function, got `Object` (object)'],
    ['logger', null, 'Expected `logger` to be an object with a `log` function, got `null`'],
    [
      'runtimeDirectory',
      'run/warren',
      'Expected `runtimeDirectory` to be an absolute path without NUL, got `"run/warren"` (string)',
    ],
    ['runtimeDirectory', '', 'Expected `runtimeDirectory` to be an absolute path without NUL, got `""` (string)'],
    ['sshPath', '/usr/bin/ssh\0', 'Expected `sshPath` to be an absolute path without NUL, got `"/usr/bin/ssh\\u0000"` (string)'],
    ['closeOnSignals', 'SIGTERM', 'Expected `closeOnSignals` to be an array of signal names, got `"SIGTERM"` (string)'],
    [
      'closeOnSignals',
      ['SIGTERM', 'SIGKILL'],
      'Expected `closeOnSignals[1]` to be the name of a signal that can be caught, got `"SIGKILL"` (string)',
    ],
    [
      'closeOnSignals',
      ['toString'],
      'Expected `closeOnSignals[0]` to be the name of a signal that can be caught, got `"toString"` (string)',
    ],
  ] as const) {
    it(`refuses ${name}: ${JSON.stringify(value)}`, () => refuses({ [name]: value }, message))
  }

  it('shows of a wrong value no more than one bounded line', () => {
    refuses({ transport: `ssh2\n\u202e${'x'.repeat(500)}` }, /got `"ssh2\\n\\u202ex{1,60}"\.\.\.` \(string\)$/)
    refuses({ transport: () => 'secret' }, /got a function$/)
    refuses({ transport: '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA' }, /got a string that looks like a secret$/)
  })

  it('refuses unknown names with the nearest known one', () => {
    refuses({ maxTunnel: 3 }, 'unknown option `maxTunnel`; did you mean `maxTunnels`?')
    refuses({ idleTimeout: undefined }, 'unknown option `idleTimeout`; did you mean `idleTimeoutMillis`?')
    refuses({ constructor: 1 }, /^unknown option `constructor`; known are `transport`, /)
  })

  it('refuses what is not an object', () => {
    refuses(null, 'Expected `options` to be an object, got `null`')
    refuses([], 'Expected `options` to be an object, got `Array` (object)')
    refuses('ssh2', 'Expected `options` to be an object, got `"ssh2"` (string)')
  })

  it('takes either transport', () => assert.equal(resolvePoolOptions({ transport: 'openssh' }).transport, 'openssh'))
})
