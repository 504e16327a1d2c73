import assert from 'node:assert/strict'
import type { AcquireOptions } from '../../src/api/lease.ts'
import { acquireDefaults, resolveAcquireOptions, resolveUseOptions } from '../../src/options/acquire.ts'

const unless = acquireDefaults(15_000)
const resolve = (given: unknown) => resolveAcquireOptions(given as AcquireOptions, unless)
const use = (given: unknown) => resolveUseOptions(given as AcquireOptions, unless)
const refuses = (given: unknown, message: string, by: (given: unknown) => unknown = resolve) =>
  assert.throws(() => by(given), { name: 'TunnelError', code: 'ERR_INVALID_OPTION', message })

describe('resolveAcquireOptions', () => {
  it('is the very object of the pool when nothing is given', () => {
    assert.equal(resolve(undefined), unless)
    assert.ok(Object.isFrozen(unless))
  })

  it('takes each default for what is left out or undefined', () => {
    const nothing = {
      forwards: undefined,
      signal: undefined,
      timeoutMillis: undefined,
      whenResting: undefined,
      exclusive: undefined,
      label: undefined,
    }
    const expected = {
      forwards: [],
      signal: undefined,
      timeoutMillis: 15_000,
      whenResting: 'reject',
      isExclusive: false,
      isJump: false,
      since: undefined,
      label: undefined,
    }
    assert.deepEqual(resolve({}), expected)
    assert.deepEqual(resolve(nothing), expected)
  })

  it('keeps what is given', () => {
    const { signal } = new AbortController()
    const forwards = { http: { to: { port: 80 } }, socks: { socks: true } }
    const resolved = resolve({ forwards, signal, timeoutMillis: 0, whenResting: 'dial', exclusive: true, label: 'health check' })
    assert.equal(resolved.signal, signal)
    assert.equal(resolved.timeoutMillis, 0)
    assert.equal(resolved.whenResting, 'dial')
    assert.equal(resolved.isExclusive, true)
    assert.equal(resolved.label, 'health check')
    assert.deepEqual(
      resolved.forwards.map(([name, { kind }]) => [name, kind]),
      [
        ['http', 'local'],
        ['socks', 'dynamic'],
      ],
    )
  })

  for (const [given, message] of [
    [{ timeout: 5 }, 'unknown option `timeout`; did you mean `timeoutMillis`?'],
    [
      { retries: 1 },
      'unknown option `retries`; known are `forwards`, `signal`, `timeoutMillis`, `whenResting`, `exclusive`, `label`',
    ],
    [{ signal: { aborted: false } }, 'Expected `signal` to be an AbortSignal, got `Object` (object)'],
    [{ signal: null }, 'Expected `signal` to be an AbortSignal, got `null`'],
    [
      { timeoutMillis: -1 },
      'Expected `timeoutMillis` to be a non-negative number of milliseconds or Infinity, got `-1` (number)',
    ],
    [
      { timeoutMillis: Number.NaN },
      'Expected `timeoutMillis` to be a non-negative number of milliseconds or Infinity, got `NaN` (number)',
    ],
    [{ whenResting: 'retry' }, "Expected `whenResting` to be 'reject', 'wait' or 'dial', got `\"retry\"` (string)"],
    [{ exclusive: 'yes' }, 'Expected `exclusive` to be true or false, got `"yes"` (string)'],
    [{ label: 'two\nlines' }, 'Expected `label` to be at most 200 printable characters, got `"two\\nlines"` (string)'],
    [{ forwards: [] }, 'Expected `forwards` to be an object of forwards by name, got `Array` (object)'],
    [{ forwards: { http: 80 } }, 'Expected `forwards.http` to be { to }, { remote, to } or { socks }, got `80` (number)'],
    [
      { forwards: { http: { to: { port: 0 } } } },
      'Expected `forwards.http.to.port` to be a port from 1 to 65535, got `0` (number)',
    ],
    [null, 'Expected `options` to be an object, got `null`'],
    [5_000, 'Expected `options` to be an object, got `5000` (number)'],
  ] as const) {
    it(`refuses ${JSON.stringify(given)}`, () => refuses(given, message))
  }
})

describe('resolveUseOptions', () => {
  it('waits for a resting destination only when it may try again, unless told otherwise', () => {
    assert.deepEqual(use(undefined), { acquire: unless, retries: 0 })
    assert.equal(use({ retries: 0 }).acquire.whenResting, 'reject')
    assert.equal(use({ retries: 2 }).acquire.whenResting, 'wait')
    assert.equal(use({ retries: 2 }).retries, 2)
    assert.equal(use({ retries: 2, whenResting: 'reject' }).acquire.whenResting, 'reject')
    assert.equal(use({ retries: 2 }).acquire.timeoutMillis, 15_000)
  })

  for (const retries of [-1, 1.5, Infinity, '1']) {
    it(`refuses retries: ${JSON.stringify(retries)} (${String(retries)})`, () =>
      assert.throws(() => use({ retries }), /^TunnelError: Expected `retries` to be a non-negative integer, got/))
  }

  it('refuses unknown names', () => refuses({ retry: 1 }, 'unknown option `retry`; did you mean `retries`?', use))
})
