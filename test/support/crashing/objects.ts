import assert from 'node:assert/strict'

it('fails with all of the process in its error', () => {
  const error = Object.assign(new Error('with much'), { process, self: {}, big: 1n })
  error.self = error
  throw error
})
it('fails with an object that it compares', () => assert.equal(process, globalThis))
it('has everything that it had before', () => assert.equal(typeof process.nextTick, 'function'))
