import assert from 'node:assert/strict'
import { Hold } from '../../src/actors/hold.ts'

/** Handles that hold the process, beyond those that did when it was made. */
function counter(): () => number {
  const count = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = count()
  return () => count() - before
}

describe('Hold', () => {
  let hold = new Hold()
  beforeEach(() => {
    hold = new Hold()
  })
  afterEach(() => hold.end())

  it('holds the process by one handle while anything is owed', () => {
    const held = counter()
    assert.equal(held(), 0)
    for (let count = 0; count < 100; count += 1) hold.take()
    assert.equal(held(), 1)
    for (let count = 0; count < 99; count += 1) hold.give()
    assert.equal(held(), 1)
    hold.give()
    assert.equal(held(), 0)
    hold.take()
    assert.equal(held(), 1)
    hold.give()
  })

  it('holds it until a promise settles, either way', async () => {
    // Mocha makes its timer once the test has begun to wait.
    await Promise.resolve()
    const held = counter()
    let settle = () => {}
    const waiting = hold.during(
      new Promise<void>((resolve) => {
        settle = resolve
      }),
    )
    assert.equal(held(), 1)
    settle()
    await waiting
    assert.equal(held(), 0)
    await assert.rejects(hold.during(Promise.reject(new Error('no'))), /no/)
    assert.equal(held(), 0)
  })

  it('holds nothing once it has ended, but for what is begun after that', () => {
    const held = counter()
    hold.take()
    hold.end()
    assert.equal(held(), 0)
    hold.give()
    hold.take()
    assert.equal(held(), 1)
    hold.give()
    assert.equal(held(), 0)
  })
})
