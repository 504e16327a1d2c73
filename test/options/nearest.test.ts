import assert from 'node:assert/strict'
import fc from 'fast-check'
import { editDistance, nearestName } from '../../src/options/nearest.ts'

const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })

describe('editDistance', () => {
  for (const [a, b, distance] of [
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['flaw', 'lawn', 2],
  ] as const) {
    it(`from "${a}" to "${b}" is ${distance}`, () => assert.equal(editDistance(a, b), distance))
  }

  it('is a metric', () => {
    fc.assert(
      fc.property(words, words, words, (a, b, c) => {
        assert.equal(editDistance(a, b), editDistance(b, a))
        assert.equal(editDistance(a, b) === 0, a === b)
        assert.ok(editDistance(a, c) <= editDistance(a, b) + editDistance(b, c))
      }),
    )
  })
})

describe('nearestName', () => {
  const known = ['host', 'port', 'user', 'identity', 'hostKey', 'timeoutMillis', 'keepAliveIntervalMillis']
  for (const [wrong, meant] of [
    ['hots', 'host'],
    ['hst', 'host'],
    ['HOST', 'host'],
    ['username', 'user'],
    ['hostname', 'host'],
    ['hostkey', 'hostKey'],
    ['identiy', 'identity'],
    ['timeout', 'timeoutMillis'],
    ['keepaliveInterval', 'keepAliveIntervalMillis'],
    ['p', undefined],
    ['password', undefined],
    ['', undefined],
  ] as const) {
    it(`for "${wrong}" is ${meant}`, () => assert.equal(nearestName(wrong, known), meant))
  }
})
