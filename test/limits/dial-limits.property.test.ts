import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DialLimits, type DialPlace } from '../../src/limits/dial-limits.ts'
import { LimitsModel, type ModelDial } from './model.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const MANY = 24

/** One real dial beside the model's, observed only through its promises. */
class Dial {
  readonly model: ModelDial
  readonly #entering = new AbortController()
  readonly #admitting = new AbortController()
  place: DialPlace | undefined
  outcome: 'waiting' | 'entered' | 'admitting' | 'admitted' | 'rejected' = 'waiting'
  error: unknown

  constructor(limits: DialLimits, model: ModelDial) {
    this.model = model
    const { address, isFailing, isJump } = model
    limits.enter({ address, isFailing, isJump, signal: this.#entering.signal }).then(
      (place) => {
        this.place = place
        this.outcome = 'entered'
      },
      (error) => this.#reject(error),
    )
  }

  admit(place: DialPlace): void {
    this.outcome = 'admitting'
    place.admit(this.#admitting.signal).then(
      () => {
        this.outcome = 'admitted'
      },
      (error) => this.#reject(error),
    )
  }

  abort(reason: Error): void {
    const waiting = this.place === undefined ? this.#entering : this.#admitting
    waiting.abort(reason)
  }

  #reject(error: unknown): void {
    this.outcome = 'rejected'
    this.error = error
  }
}

/** The model says what must have become of each; the dial can tell only what its promises did. */
function expectedOutcome({ model, outcome }: Dial): string {
  if (model.holds.has('opening')) return 'admitted'
  if (model.waitsFor === 'opening') return 'admitting'
  if (model.waitsFor !== undefined) return 'waiting'
  return model.holds.has('connecting') ? (outcome === 'rejected' ? 'rejected' : 'entered') : outcome
}

const step = fc.record({
  verb: fc.constantFrom('enter', 'enter', 'enter', 'abort', 'admit', 'admit', 'release', 'release', 'turn', 'turn'),
  which: fc.nat(MANY - 1),
  address: fc.constantFrom('a:22', 'b:22'),
  isFailing: fc.boolean(),
  isJump: fc.boolean(),
})
const limit = fc.constantFrom(1, 2, 3, 4, 5, Infinity)

describe('DialLimits, any order of things', () => {
  it('grants exactly what the rules grant, settles every wait, and holds nothing in the end', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 120 }),
      limit,
      limit,
      limit,
      async (steps, maxConnecting, maxOpening, perAddress) => {
        const limits = new DialLimits({ maxConnecting, maxOpening, maxOpeningPerAddress: perAddress })
        const model = new LimitsModel({ address: perAddress, connecting: maxConnecting, opening: maxOpening })
        const dials: Dial[] = []
        const aborted = new Map<Dial, Error>()

        const check = async () => {
          await turn()
          for (const dial of dials) assert.equal(dial.outcome, expectedOutcome(dial), JSON.stringify(dial.model))
          for (const [dial, reason] of aborted) assert.equal(dial.error, reason)
          assert.equal(limits.connecting, model.held('connecting').length)
          assert.equal(limits.opening, model.held('opening').length)
          assert.equal(
            limits.waiting,
            model.dials.filter((dial) => dial.waitsFor === 'address' || dial.waitsFor === 'connecting').length,
          )
          assert.equal(limits.addresses, new Set(model.dials.filter((dial) => !dial.isOver).map((dial) => dial.address)).size)
          assertWithinLimits(model, { address: perAddress, connecting: maxConnecting, opening: maxOpening })
        }

        for (const { verb, which, ...wish } of steps) {
          const dial = dials[which % Math.max(1, dials.length)]
          if (verb === 'turn') await check()
          else if (verb === 'enter') dials.push(new Dial(limits, model.enter(wish)))
          else if (dial === undefined) continue
          else if (
            verb === 'abort' &&
            dial.model.waitsFor !== undefined &&
            (dial.place !== undefined) === (dial.model.waitsFor === 'opening')
          ) {
            aborted.set(dial, new Error('aborted'))
            model.abort(dial.model)
            dial.abort(aborted.get(dial) as Error)
          } else if (verb === 'admit' && dial.outcome === 'entered' && dial.place !== undefined && !dial.model.isOver) {
            model.admit(dial.model)
            dial.admit(dial.place)
          } else if (verb === 'release' && dial.place !== undefined) {
            model.release(dial.model)
            dial.place.release()
          }
        }

        await check()
        for (const dial of dials) {
          if (dial.place === undefined) {
            model.abort(dial.model)
            dial.abort(new Error('the end'))
          } else {
            model.release(dial.model)
            dial.place.release()
          }
        }
        await turn()
        for (const { place } of dials) place?.release()
        assert.deepEqual([limits.waiting, limits.connecting, limits.opening, limits.addresses], [0, 0, 0, 0])
        assert.deepEqual(
          dials.filter(({ outcome }) => outcome === 'waiting' || outcome === 'admitting'),
          [],
        )
      },
    )
    await fc.assert(property, { numRuns: 300 })
  })
})

function assertWithinLimits(model: LimitsModel, limits: { address: number; connecting: number; opening: number }): void {
  const groups = [
    [model.held('connecting'), limits.connecting],
    [model.held('opening'), limits.opening],
    [model.held('address', 'a:22'), limits.address],
    [model.held('address', 'b:22'), limits.address],
  ] as const
  for (const [held, most] of groups) {
    assert.ok(held.length <= most)
    assert.ok(held.filter((dial) => dial.isFailing).length <= Math.max(1, Math.floor(most / 2)))
  }
}
