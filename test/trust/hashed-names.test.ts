import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { HashedNames } from '../../src/trust/hashed-names.ts'

function hashed(name: string): string {
  const salt = randomBytes(20)
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
}

const shuffled = <T>(items: readonly T[]): T[] =>
  fc.sample(fc.shuffledSubarray([...items], { minLength: items.length }), 1)[0] ?? []
const sorted = (items: readonly string[]) => [...items].sort()

/** What WebAssembly computes must be what node:crypto computes, and without it nothing may change but the time. */
for (const [how, hasWebAssembly] of [
  ['with WebAssembly', true],
  ['without WebAssembly', false],
] as const) {
  describe(`hashed names, ${how}`, () => {
    const { WebAssembly } = globalThis as unknown as { WebAssembly: unknown }
    before(() => {
      if (!hasWebAssembly) Object.assign(globalThis, { WebAssembly: undefined })
    })
    after(() => void Object.assign(globalThis, { WebAssembly }))

    it('finds every line of each name of 1 to 80 bytes, in every lane, and no other line', async () => {
      const names = Array.from({ length: 80 }, (_, i) => 'n'.repeat(i) + (i % 10))
      const lines = new Map(names.map((name, i) => [name, Array.from({ length: 1 + (i % 3) }, () => hashed(name))]))
      const hashes = new HashedNames()
      hashes.replace(new Set(shuffled([...lines.values()].flat())))
      for (const [name, own] of lines) assert.deepEqual(sorted(await hashes.find(name, undefined)), sorted(own), name)
      for (const [name, own] of lines) assert.deepEqual(sorted(await hashes.find(name, undefined)), sorted(own), `${name} again`)
      assert.deepEqual(await hashes.find('stranger', undefined), [])
    })

    it('finds the same, whoever asks at once, in whatever order', async () => {
      const names = Array.from({ length: 100 }, (_, i) => `host-${i}`)
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.nat(119), { maxLength: 150 }), { maxLength: 4 }),
          fc.array(fc.nat(99)),
          async (rounds, twice) => {
            const lines = [...names, ...twice.map((i) => `host-${i}`)].map((name) => [name, hashed(name)] as const)
            const hashes = new HashedNames()
            hashes.replace(new Set(lines.map(([, line]) => line)))
            for (const round of rounds) {
              const asked = round.map((i) => `host-${i}`)
              const found = await Promise.all(asked.map((name) => hashes.find(name, undefined)))
              for (const [i, name] of asked.entries()) {
                assert.deepEqual(sorted(found[i] ?? []), sorted(lines.flatMap(([owner, line]) => (owner === name ? [line] : []))))
              }
            }
          },
        ),
        { numRuns: hasWebAssembly ? 50 : 5 },
      )
    })

    it('follows the file: finds what has come, not what has gone, and what has come back', async () => {
      const hashes = new HashedNames()
      const [old, kept, come, other] = [hashed('a'), hashed('a'), hashed('a'), hashed('b')]
      hashes.replace(new Set([old, kept, other]))
      assert.deepEqual(sorted(await hashes.find('a', undefined)), sorted([old, kept]))
      hashes.replace(new Set([come, kept, other]))
      assert.deepEqual(sorted(await hashes.find('a', undefined)), sorted([come, kept]))
      assert.deepEqual(await hashes.find('b', undefined), [other])
      hashes.replace(new Set([other]))
      assert.deepEqual(await hashes.find('a', undefined), [])
      hashes.replace(new Set([other, old]))
      assert.deepEqual(await hashes.find('a', undefined), [old])
    })
  })
}

describe('10,000 names against 10,000 hashed lines', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `host-${i}.fleet.example.com`)
  const lines = new Map(names.map((name) => [name, hashed(name)]))

  for (const [order, asked, least] of [
    ['in order', names, 5],
    ['in random order', shuffled(names), 20],
  ] as const) {
    it(`finds each, asked ${order}, while the event loop turns`, async function () {
      this.timeout(120_000)
      const hashes = new HashedNames()
      hashes.replace(new Set(lines.values()))
      let turns = 0
      let turn: NodeJS.Immediate
      const count = () => {
        turns++
        turn = setImmediate(count)
      }
      turn = setImmediate(count)
      const found = await Promise.all(asked.map((name) => hashes.find(name, undefined)))
      clearImmediate(turn)
      assert.deepEqual(
        found,
        asked.map((name) => [lines.get(name)]),
      )
      assert.ok(turns > least, `${turns} turns`)
    })
  }

  it('leaves out those who have aborted, and serves the others', async () => {
    const hashes = new HashedNames()
    hashes.replace(new Set(lines.values()))
    const aborted = AbortSignal.abort()
    const left = hashes.find('host-9.fleet.example.com', aborted)
    const both = [hashes.find('host-7.fleet.example.com', aborted), hashes.find('host-7.fleet.example.com', undefined)]
    // The file has the name: nothing found means that it was not tried.
    assert.deepEqual(await left, [])
    assert.deepEqual(await Promise.all(both), Array(2).fill([lines.get('host-7.fleet.example.com')]))
    assert.deepEqual(await hashes.find('host-9.fleet.example.com', undefined), [lines.get('host-9.fleet.example.com')])
    const all = await Promise.all(names.map((name) => hashes.find(name, aborted)))
    assert.equal(all.filter((found) => found.length > 0).length, 2)
    assert.deepEqual(await hashes.find('host-8.fleet.example.com', undefined), [lines.get('host-8.fleet.example.com')])
  })
})
