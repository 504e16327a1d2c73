import assert from 'node:assert/strict'
import { Naps } from '../../src/actors/naps.ts'
import { systemClock } from '../../src/clock.ts'

/** A clock whose monotonic time stands still while the machine sleeps. */
function startNaps(longestMillis: number) {
  let now = 1_000
  let boot = 5_000
  const naps = new Naps({ ...systemClock, now: () => now, boot: () => boot }, longestMillis)
  return {
    naps,
    awake: (millis: number) => {
      now += millis
      boot += millis
    },
    asleep: (millis: number) => {
      boot += millis
    },
    now: () => now,
  }
}

describe('Naps', () => {
  it('notices a suspend longer than two keepalives, by boot time', () => {
    const { naps, awake, asleep, now } = startNaps(20_000)
    assert.equal(naps.wokeAt, Number.NEGATIVE_INFINITY)
    asleep(20_001)
    awake(50)
    assert.equal(naps.wokeAt, now())
    const woke = now()
    awake(1e6)
    assert.equal(naps.wokeAt, woke)
  })

  it('takes a shorter one for none, and does not add up many of them', () => {
    const { naps, awake, asleep } = startNaps(20_000)
    for (let count = 0; count < 10; count += 1) {
      asleep(19_000)
      awake(50)
      assert.equal(naps.wokeAt, Number.NEGATIVE_INFINITY)
    }
  })

  it('takes the rounding of boot time for no nap, however short the keepalive', () => {
    for (const longest of [0, 1, 20]) {
      const { naps, awake, asleep } = startNaps(longest)
      for (let count = 0; count < 10; count += 1) {
        asleep(10)
        awake(50)
        assert.equal(naps.wokeAt, Number.NEGATIVE_INFINITY)
      }
    }
  })

  for (const off of [0, Number.POSITIVE_INFINITY]) {
    it(`still notices one of 20 s when there are no keepalives (${off})`, () => {
      const { naps, awake, asleep, now } = startNaps(off)
      asleep(19_000)
      awake(50)
      assert.equal(naps.wokeAt, Number.NEGATIVE_INFINITY)
      asleep(20_001)
      awake(50)
      assert.equal(naps.wokeAt, now())
    })
  }

  it('does not ask the kernel each time', () => {
    let asked = 0
    const clock = {
      ...systemClock,
      now: () => 0,
      boot: () => {
        asked += 1
        return 0
      },
    }
    const naps = new Naps(clock, 20_000)
    for (let count = 0; count < 1_000; count += 1) assert.equal(naps.wokeAt, Number.NEGATIVE_INFINITY)
    assert.equal(asked, 1)
  })
})
