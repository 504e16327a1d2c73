import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Script } from '../pool/script.ts'
import { startHost } from '../pool/world.ts'

/** Whoever is not held ends within a few ms. */
const HELD_MILLIS = 200

describe('the process of a standing endpoint', () => {
  it('is held by one that nobody uses until it is closed', async () => {
    await using site = await startHost()
    await using script = await Script.start('dormant', site.target)
    assert.equal(await script.line(), 'listens')
    await sleep(HELD_MILLIS)
    assert.equal(script.hasEnded, false)
    script.signal('SIGUSR2')
    assert.equal(await script.end(), 0, script.stderr)
    assert.deepEqual(await script.files(), [])
  })

  it('is held by an eager one as long as it is ref(), and not by the lease under it', async () => {
    await using site = await startHost()
    await using script = await Script.start('standing', site.target)
    assert.equal(await script.line(), 'up')
    script.signal('SIGUSR2')
    assert.equal(await script.line(), '1')
    await sleep(HELD_MILLIS)
    assert.equal(script.hasEnded, false)
    script.signal('SIGUSR2')
    assert.equal(await script.line(), '0')
    assert.equal(await script.end(), 0, script.stderr)
    assert.deepEqual(await script.files(), [])
  })
})
