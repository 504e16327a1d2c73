import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { TunnelError } from '../../src/errors.ts'
import { DialLimits, type DialPlace } from '../../src/limits/dial-limits.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const unlimited = { maxConnecting: Infinity, maxOpening: Infinity, maxOpeningPerAddress: Infinity }
/** A signal of its own for each wait, as each dial has one. */
const never = () => new AbortController().signal
const counts = (limits: DialLimits) => [limits.waiting, limits.connecting, limits.opening, limits.addresses]

/** Enters under a name and writes the name down once it has a place. */
function lineUp(limits: DialLimits, entered: string[]) {
  const places = new Map<string, DialPlace>()
  const enter = async (name: string, kind: { isFailing?: boolean; isJump?: boolean; address?: string } = {}) => {
    const place = await limits.enter({
      address: kind.address ?? name,
      isFailing: kind.isFailing ?? false,
      isJump: kind.isJump,
      signal: never(),
    })
    places.set(name, place)
    entered.push(name)
  }
  return { places, enter: (...args: Parameters<typeof enter>) => void enter(...args) }
}

describe('DialLimits', () => {
  it('lets healthy jumps go first, then the healthy, then failing jumps, then the failing, each in the order of coming', async () => {
    const limits = new DialLimits({ ...unlimited, maxConnecting: 1 })
    const entered: string[] = []
    const { places, enter } = lineUp(limits, entered)
    enter('first')
    for (const round of [1, 2]) {
      enter(`failing ${round}`, { isFailing: true })
      enter(`failing jump ${round}`, { isFailing: true, isJump: true })
      enter(`healthy ${round}`)
      enter(`jump ${round}`, { isJump: true })
    }
    await turn()
    for (let left = 8; left >= 0; left -= 1) {
      places.get(entered.at(-1) as string)?.release()
      await turn()
    }
    const kinds = ['jump', 'healthy', 'failing jump', 'failing']
    assert.deepEqual(entered, ['first', ...kinds.flatMap((kind) => [`${kind} 1`, `${kind} 2`])])
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })

  for (const [which, limited] of [
    ['connecting', { ...unlimited, maxConnecting: 5 }],
    ['at one address', { ...unlimited, maxOpeningPerAddress: 5 }],
  ] as const) {
    it(`keeps places for the healthy ${which}, of which failing ones hold at most half`, async () => {
      const limits = new DialLimits(limited)
      const entered: string[] = []
      const { enter } = lineUp(limits, entered)
      for (let n = 0; n < 10; n += 1) enter(`failing ${n}`, { isFailing: true, address: 'same:22' })
      await turn()
      assert.deepEqual(entered, ['failing 0', 'failing 1'])
      for (let n = 0; n < 10; n += 1) enter(`healthy ${n}`, { address: 'same:22' })
      await turn()
      assert.equal(entered.length, 5)
    })
  }

  it('lets a failing one have the only place there is', async () => {
    const limits = new DialLimits({ maxConnecting: 1, maxOpening: 1, maxOpeningPerAddress: 1 })
    const place = await limits.enter({ address: 'a:22', isFailing: true, signal: never() })
    await place.admit(never())
    assert.deepEqual(counts(limits), [0, 0, 1, 1])
    place.release()
  })

  it('keeps failing ones to half of the opening, too', async () => {
    const limits = new DialLimits({ ...unlimited, maxOpening: 4 })
    const enter = (isFailing: boolean) => limits.enter({ address: 'a:22', isFailing, signal: never() })
    const failing = await Promise.all([enter(true), enter(true), enter(true)])
    const healthy = await enter(false)
    const admitted = failing.map((place) => place.admit(never()))
    await turn()
    assert.deepEqual([limits.connecting, limits.opening], [2, 2])
    await healthy.admit(never())
    failing[0]?.release()
    await admitted[2]
    for (const place of [...failing, healthy]) place.release()
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })

  it('does not let the dials to one address take the places of others', async () => {
    const limits = new DialLimits({ maxConnecting: 4, maxOpening: 4, maxOpeningPerAddress: 2 })
    const entered: string[] = []
    const { enter } = lineUp(limits, entered)
    for (let n = 0; n < 8; n += 1) enter(`crowd ${n}`, { address: 'crowd:22' })
    enter('other')
    await turn()
    assert.deepEqual(entered.sort(), ['crowd 0', 'crowd 1', 'other'])
  })

  it('holds the connecting place until the opening place is there, and the address to the end', async () => {
    const limits = new DialLimits({ maxConnecting: 2, maxOpening: 1, maxOpeningPerAddress: 8 })
    const first = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    await first.admit(never())
    const second = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    const admission = second.admit(never())
    await turn()
    assert.deepEqual(counts(limits), [0, 1, 1, 1])
    first.release()
    await admission
    assert.deepEqual(counts(limits), [0, 0, 1, 1])
    second.release()
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })

  it('refuses at once, with the reason, when the signal has aborted before', async () => {
    const limits = new DialLimits(unlimited)
    const reason = new Error('too late')
    await assert.rejects(
      limits.enter({ address: 'a:22', isFailing: false, signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    )
    const place = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    await assert.rejects(place.admit(AbortSignal.abort(reason)), (error) => error === reason)
    assert.deepEqual(counts(limits), [0, 1, 0, 1])
    place.release()
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })

  it('passes a place on that was granted to one who aborted before it could go on', async () => {
    const limits = new DialLimits({ ...unlimited, maxConnecting: 1 })
    const holder = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    const quitter = new AbortController()
    const quitting = limits.enter({ address: 'b:22', isFailing: false, signal: quitter.signal })
    const next = limits.enter({ address: 'c:22', isFailing: false, signal: never() })
    await turn()
    holder.release()
    quitter.abort(new Error('never mind'))
    await assert.rejects(quitting, { message: 'never mind' })
    const place = await next
    assert.deepEqual(counts(limits), [0, 1, 0, 1])
    place.release()
  })

  it('ends an admission whose place is released, also one that was just granted', async () => {
    const limits = new DialLimits({ ...unlimited, maxOpening: 1 })
    const [holder, waiting, granted] = await Promise.all(
      ['a:22', 'b:22', 'c:22'].map((address) => limits.enter({ address, isFailing: false, signal: never() })),
    )
    await holder?.admit(never())
    const admissions = [granted?.admit(never()), waiting?.admit(never())].map((each) =>
      assert.rejects(each as Promise<void>, { code: 'ERR_ABORTED' }),
    )
    await turn()
    waiting?.release()
    holder?.release()
    granted?.release()
    await Promise.all(admissions)
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })

  it('admits none that was released before', async () => {
    const limits = new DialLimits(unlimited)
    const place = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    place.release()
    await assert.rejects(place.admit(never()), (error) => TunnelError.is(error) && error.code === 'ERR_ABORTED')
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })

  it('joins a second admission to the first, and takes a second release for none', async () => {
    const limits = new DialLimits(unlimited)
    const place = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    const other = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    await Promise.all([place.admit(never()), place.admit(never())])
    assert.deepEqual(counts(limits), [0, 1, 1, 1])
    place.release()
    place.release()
    assert.deepEqual(counts(limits), [0, 1, 0, 1])
    other.release()
  })

  it('leaves no listener on a signal that outlives the wait', async () => {
    const limits = new DialLimits({ ...unlimited, maxConnecting: 1, maxOpening: 1 })
    const shared = new AbortController()
    const enter = () => limits.enter({ address: 'a:22', isFailing: false, signal: shared.signal })
    const dial = async () => {
      const place = await enter()
      await place.admit(shared.signal)
      await turn()
      place.release()
    }
    await Promise.all(Array.from({ length: 9 }, dial))
    assert.equal(getEventListeners(shared.signal, 'abort').length, 0)
  })

  it('lets 20,000 leave from the middle of the line without searching it', async () => {
    const limits = new DialLimits({ ...unlimited, maxConnecting: 1 })
    const holder = await limits.enter({ address: 'a:22', isFailing: false, signal: never() })
    const reason = new Error('left')
    const waiters = Array.from({ length: 20_000 }, () => new AbortController())
    const ends = waiters.map(({ signal }) => limits.enter({ address: 'a:22', isFailing: false, signal }).catch(() => 'left'))
    for (let n = 0; n < 10_000; n += 1) {
      waiters[10_000 + n]?.abort(reason)
      waiters[9_999 - n]?.abort(reason)
    }
    assert.ok((await Promise.all(ends)).every((end) => end === 'left'))
    holder.release()
    assert.deepEqual(counts(limits), [0, 0, 0, 0])
  })
})
