import assert from 'node:assert/strict'
import { shown } from '../src/shown.ts'

describe('shown', () => {
  it('leaves no control, bidirectional or line character in what came from outside', () => {
    assert.equal(shown('\r\na\u001b[31m\u0000\u202e\u2028é\u009f'), 'a [31m é')
  })

  it('bounds it, and says so', () => {
    assert.equal(shown('x'.repeat(10), 10), 'x'.repeat(10))
    for (const length of [11, 20, 1_000]) assert.equal(shown('x'.repeat(length), 10), `${'x'.repeat(10)}…`)
    assert.equal(shown('\n'.repeat(100), 10), '…')
  })
})
