import assert from 'node:assert/strict'
import * as calls from '../../src/options/calls.ts'

const { signal } = new AbortController()
const bounds = Object.freeze({ signal: undefined, timeoutMillis: 5_000 })
const by: Record<string, (given: never) => unknown> = {
  warm: (given) => calls.resolveSignal(given),
  connect: (given) => calls.resolveConnectOptions(given, bounds),
  exec: (given) => calls.resolveExecOptions(given),
  probe: (given) => calls.resolveProbeOptions(given, 5_000),
  retire: (given) => calls.resolveRetireOptions(given),
  listen: (given) => calls.resolveListenOptions(given),
  close: (given) => calls.resolveCloseTimeout(given, 10_000),
}

describe('options of other calls', () => {
  for (const [call, given, expected] of [
    ['warm', undefined, undefined],
    ['warm', { signal }, signal],
    ['connect', undefined, bounds],
    ['connect', { timeoutMillis: 0 }, { signal: undefined, timeoutMillis: 0 }],
    ['connect', { signal }, { signal, timeoutMillis: 5_000 }],
    ['exec', undefined, { signal: undefined, timeoutMillis: Infinity, input: undefined, maxOutputBytes: 1_048_576 }],
    [
      'exec',
      { signal, timeoutMillis: 1, input: 'x', maxOutputBytes: 0 },
      { signal, timeoutMillis: 1, input: 'x', maxOutputBytes: 0 },
    ],
    ['probe', undefined, { isDialing: false, signal: undefined, timeoutMillis: 5_000 }],
    ['probe', { dial: true, signal, timeoutMillis: Infinity }, { isDialing: true, signal, timeoutMillis: Infinity }],
    ['retire', undefined, { reason: undefined, isForced: false }],
    ['retire', { reason: 'rotation', force: true }, { reason: 'rotation', isForced: true }],
    ['listen', undefined, { isEager: false, signal: undefined, label: undefined }],
    ['listen', { eager: true, signal, label: 'db' }, { isEager: true, signal, label: 'db' }],
    ['close', undefined, 10_000],
    ['close', {}, 10_000],
    ['close', { timeoutMillis: 0 }, 0],
  ] as const) {
    it(`${call}: completes ${JSON.stringify(given)}`, () => assert.deepEqual(by[call]?.(given as never), expected))
  }

  it('connect: is the very object of the pool when nothing is given', () =>
    assert.equal(calls.resolveConnectOptions(undefined, bounds), bounds))

  for (const [call, given, message] of [
    ['warm', { timeoutMillis: 1 }, /^unknown option `timeoutMillis`; known are `signal`/],
    ['warm', { signal: 'x' }, /^Expected `signal` to be an AbortSignal/],
    ['warm', null, /^Expected `options` to be an object, got `null`/],
    ['connect', { timeout: 1 }, /^unknown option `timeout`; did you mean `timeoutMillis`\?/],
    ['connect', { timeoutMillis: -1 }, /^Expected `timeoutMillis`/],
    ['exec', { input: 5 }, /^Expected `input` to be a string or a Uint8Array, got a value that is not shown \(number\)/],
    ['exec', { maxOutputBytes: -1 }, /^Expected `maxOutputBytes` to be a non-negative integer or Infinity/],
    ['exec', { cwd: '/' }, /^unknown option `cwd`/],
    ['probe', { dial: 1 }, /^Expected `dial` to be true or false/],
    ['probe', { signal: {} }, /^Expected `signal`/],
    ['retire', { reason: 5 }, /^Expected `reason` to be at most 200 printable characters/],
    ['retire', { force: 'yes' }, /^Expected `force` to be true or false/],
    ['retire', { forced: true }, /^unknown option `forced`; did you mean `force`\?/],
    ['listen', { eager: null }, /^Expected `eager` to be true or false, got `null`/],
    ['close', { timeoutMillis: Number.NaN }, /^Expected `timeoutMillis`/],
    ['close', 5, /^Expected `options` to be an object, got `5`/],
  ] as const) {
    it(`${call}: refuses ${JSON.stringify(given)}`, () =>
      assert.throws(() => by[call]?.(given as never), { code: 'ERR_INVALID_OPTION', message }))
  }
})

describe('checkCommand', () => {
  it('takes any text but none and NUL, and never shows it', () => {
    assert.equal(calls.checkCommand('echo "hi"\n'), 'echo "hi"\n')
    for (const wrong of ['', 'echo s3cret\0', 5]) {
      assert.throws(() => calls.checkCommand(wrong as string), { code: 'ERR_INVALID_OPTION', message: /not shown/ })
    }
  })
})
