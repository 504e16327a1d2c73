import assert from 'node:assert/strict'
import { DialLimits } from '../../src/limits/dial-limits.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Virtual time: nothing passes until everybody waits. */
class Time {
  now = 0
  readonly #sleepers = new Map<number, Array<() => void>>()

  sleep(millis: number): Promise<void> {
    const at = this.now + millis
    return new Promise((resolve) => this.#sleepers.set(at, [...(this.#sleepers.get(at) ?? []), resolve]))
  }

  async run(): Promise<void> {
    await turn()
    while (this.#sleepers.size > 0) {
      this.now = Math.min(...this.#sleepers.keys())
      const woken = this.#sleepers.get(this.now) ?? []
      this.#sleepers.delete(this.now)
      for (const wake of woken) wake()
      await turn()
    }
  }
}

describe('DialLimits, 10,000 hosts of which every tenth is dead', () => {
  it('has dialled all healthy ones before the first dead one times out', async () => {
    const limits = new DialLimits({ maxConnecting: 512, maxOpening: 8, maxOpeningPerAddress: 8 })
    const time = new Time()
    let lastHealthy = 0
    const timeouts: number[] = []
    let most = 0

    const dial = async (host: number) => {
      const isDead = host % 10 === 0
      const place = await limits.enter({ address: `host-${host}:22`, isFailing: isDead, signal: new AbortController().signal })
      most = Math.max(most, limits.connecting)
      await time.sleep(isDead ? 10_000 : 10)
      if (isDead) timeouts.push(time.now)
      else {
        await place.admit(new AbortController().signal)
        await time.sleep(4)
        lastHealthy = time.now
      }
      place.release()
    }
    const all = Promise.all(Array.from({ length: 10_000 }, (_, host) => dial(host)))
    await time.run()
    await all

    assert.equal(timeouts.length, 1_000)
    assert.ok(lastHealthy < Math.min(...timeouts), `the last healthy one was done at ${lastHealthy} ms`)
    assert.ok(most <= 512)
    assert.deepEqual([limits.waiting, limits.connecting, limits.opening, limits.addresses], [0, 0, 0, 0])
  })
})
