import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { DialLimits } from '../../src/limits/dial-limits.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const given = { maxConnecting: 512, maxOpening: 8, maxOpeningPerAddress: Infinity }
const PLACES = 2 * availableParallelism()

describe('DialLimits, of dials that spawn', () => {
  const enter = (limits: DialLimits, count: number, kind: { isFailing?: boolean; isSpawning?: boolean } = {}) =>
    Array.from({ length: count }, (_, index) =>
      limits.enter({ address: `${index}:22`, isFailing: false, isSpawning: true, signal: new AbortController().signal, ...kind }),
    )

  it('lets two per core begin, however many places there are for other dials', async () => {
    const limits = new DialLimits(given)
    const entering = enter(limits, PLACES + 3)
    await turn()
    assert.deepEqual([limits.spawning, limits.waiting, limits.connecting, limits.opening], [PLACES, 3, 0, 0])
    const [first] = await Promise.all(entering.slice(0, 1))
    first?.release()
    await turn()
    assert.deepEqual([limits.spawning, limits.waiting], [PLACES, 2])
  })

  it('lets as many begin as `maxOpening` says, if it is given', async () => {
    const limits = new DialLimits({ ...given, maxOpening: 1, isMaxOpeningGiven: true })
    enter(limits, 4)
    await turn()
    assert.deepEqual([limits.spawning, limits.waiting], [1, 3])
  })

  it('lets those that fail share one place, so that their timeouts keep nobody waiting', async () => {
    const limits = new DialLimits(given)
    enter(limits, 10, { isFailing: true })
    await turn()
    assert.equal(limits.spawning, 1)
    enter(limits, 10)
    await turn()
    assert.equal(limits.spawning, PLACES)
  })

  it('holds the place from the start to the end: to be admitted takes no other', async () => {
    const limits = new DialLimits({ ...given, maxOpening: 1 })
    const [place] = await Promise.all(enter(limits, 1))
    await place?.admit(new AbortController().signal)
    assert.deepEqual([limits.spawning, limits.opening], [1, 0])
    place?.release()
    assert.deepEqual([limits.spawning, limits.addresses], [0, 0])
  })

  it('does not count them among the others, nor the others among them', async () => {
    const limits = new DialLimits(given)
    enter(limits, PLACES)
    enter(limits, 5, { isSpawning: false })
    await turn()
    assert.deepEqual([limits.spawning, limits.connecting, limits.waiting], [PLACES, 5, 0])
  })
})
