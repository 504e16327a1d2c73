import assert from 'node:assert/strict'
import type { Clock } from '../../src/clock.ts'
import { keepAlive } from '../../src/transport/keepalive.ts'

/** A clock that a test winds: timers run when their time comes, or late. */
class WoundClock implements Clock {
  #now = 0
  #asleep = 0
  #timers = new Map<object, { fn: () => void; at: number }>()
  now = () => this.#now
  boot = () => this.#now + this.#asleep
  date = () => new Date(this.#now)
  setTimeout(fn: () => void, millis: number): unknown {
    const timer = {}
    this.#timers.set(timer, { fn, at: this.#now + millis })
    return timer
  }
  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as object)
  }
  /** Lets time pass; `lateBy`: each timer runs that much after its time, as on a busy loop. */
  wind(millis: number, lateBy = 0): void {
    const until = this.#now + millis
    for (;;) {
      const next = [...this.#timers].map(([timer, { fn, at }]) => ({ timer, fn, at: at + lateBy })).sort((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > until) break
      this.#now = Math.max(this.#now, next.at)
      this.#timers.delete(next.timer)
      next.fn()
    }
    this.#now = until
  }
  /** The loop stands still: no timer runs meanwhile. */
  block(millis: number): void {
    this.#now += millis
  }
  /** The machine is suspended: monotonic time stands still, boot time goes on. */
  suspend(millis: number): void {
    this.#asleep += millis
  }
  get timers(): number {
    return this.#timers.size
  }
}

function start(options: { intervalMillis?: number; countMax?: number; answers?: boolean; isPaused?: () => boolean } = {}) {
  const clock = new WoundClock()
  const seen = { asked: 0, diedAt: undefined as number | undefined, provenAt: 0, answers: options.answers ?? false }
  const stop = keepAlive({
    clock,
    intervalMillis: options.intervalMillis ?? 1_000,
    countMax: options.countMax ?? 3,
    provenAt: () => seen.provenAt,
    isPaused: options.isPaused ?? (() => false),
    ask: () => {
      seen.asked += 1
      if (seen.answers) seen.provenAt = clock.now()
    },
    dead: () => {
      seen.diedAt = clock.now()
    },
  })
  return { clock, seen, stop }
}

describe('keepAlive', () => {
  it('calls a silent server dead after interval × (count + 1)', () => {
    const { clock, seen } = start()
    clock.wind(3_999)
    assert.equal(seen.diedAt, undefined)
    clock.wind(1)
    assert.equal(seen.diedAt, 4_000)
    assert.equal(seen.asked, 3)
  })

  it('never calls one dead that answers, however late the ticks are', () => {
    const { clock, seen } = start({ answers: true })
    clock.wind(100_000, 7)
    assert.equal(seen.diedAt, undefined)
    assert.ok(seen.asked > 50)
  })

  it('does not ask a server that talks', () => {
    const { clock, seen } = start()
    for (let second = 0; second < 100; second += 1) {
      clock.wind(900)
      seen.provenAt = clock.now()
    }
    assert.equal(seen.asked, 0)
  })

  it('asks one that falls silent, from its last byte on', () => {
    const { clock, seen } = start()
    clock.wind(700)
    seen.provenAt = 700
    clock.wind(4_000)
    assert.equal(seen.diedAt, 4_700)
  })

  for (const [what, gap] of [
    ['a blocked loop', (clock: WoundClock) => clock.block(60_000)],
    ['a suspended machine', (clock: WoundClock) => clock.suspend(60_000)],
  ] as const) {
    it(`counts anew after ${what}`, () => {
      const { clock, seen } = start()
      clock.wind(3_500)
      assert.equal(seen.asked, 3)
      gap(clock)
      const awake = clock.now()
      clock.wind(1_000)
      assert.equal(seen.diedAt, undefined, 'judged by a silence that it slept through')
      seen.provenAt = clock.now()
      clock.wind(900)
      assert.equal(seen.diedAt, undefined)
      assert.ok(seen.asked > 3 && clock.now() > awake)
    })
  }

  it('does not judge a server that we ourselves do not listen to', () => {
    let isPaused = true
    const { clock, seen } = start({ isPaused: () => isPaused })
    clock.wind(60_000)
    assert.equal(seen.diedAt, undefined)
    isPaused = false
    clock.wind(5_000)
    assert.notEqual(seen.diedAt, undefined)
  })

  for (const intervalMillis of [0, Number.POSITIVE_INFINITY]) {
    it(`is off at ${intervalMillis}`, () => {
      const { clock } = start({ intervalMillis })
      assert.equal(clock.timers, 0)
    })
  }

  it('leaves no timer when stopped', () => {
    const { clock, stop } = start()
    clock.wind(2_500)
    stop()
    assert.equal(clock.timers, 0)
  })
})
