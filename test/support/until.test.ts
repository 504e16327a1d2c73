import assert from 'node:assert/strict'
import { until } from './until.ts'

describe('until', () => {
  it('gives what the fact gives, once there is something', async () => {
    let asked = 0
    assert.equal(await until(() => (++asked > 3 ? 'there' : undefined)), 'there')
    assert.equal(await until(async () => ++asked), 5)
  })

  it('names the fact that did not come true, and why', async () => {
    await assert.rejects(
      until(() => Math.max(1, 2) > 3, { within: 10 }),
      /^Error: not within 10 ms: .*Math\.max\(1, ?2\) ?> ?3$/,
    )
    const failure = until(() => assert.equal(1, 2, 'one is not two'), { within: 10, what: 'two' })
    await assert.rejects(
      failure,
      (error: Error) => error.message === 'not within 10 ms: two' && /one is not two/.test(String(error.cause)),
    )
  })

  it('does not wait for a fact that never answers', async () => {
    const started = performance.now()
    await assert.rejects(
      until(() => new Promise<boolean>(() => {}), { within: 20, what: 'never' }),
      /not within 20 ms: never/,
    )
    assert.ok(performance.now() - started < 1_000)
  })
})
