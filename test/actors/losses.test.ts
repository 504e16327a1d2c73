import assert from 'node:assert/strict'
import { Losses } from '../../src/actors/losses.ts'
import { systemClock } from '../../src/clock.ts'

function startLosses() {
  let now = 0
  const losses = new Losses({ ...systemClock, now: () => now })
  return {
    losses,
    at: (time: number, count = 1) => {
      now = time
      for (let made = 0; made < count; made += 1) losses.note()
    },
  }
}

describe('Losses', () => {
  it('are a storm when more than ten come within a second', () => {
    const { losses, at } = startLosses()
    at(0, 10)
    assert.equal(losses.isStorm, false)
    at(999)
    assert.equal(losses.isStorm, true)
    at(1_000, 0)
    assert.equal(losses.isStorm, false)
  })

  it('are none when they come one after the other', () => {
    const { losses, at } = startLosses()
    for (let count = 0; count < 100; count += 1) {
      at(count * 100)
      assert.equal(losses.isStorm, false)
    }
  })

  it('look at the last second only', () => {
    const { losses, at } = startLosses()
    at(0, 50)
    at(5_000, 10)
    assert.equal(losses.isStorm, false)
    at(5_001)
    assert.equal(losses.isStorm, true)
  })
})
