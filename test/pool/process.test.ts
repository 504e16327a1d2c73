import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/until.ts'
import { Script } from './script.ts'
import { listen, makePool, named, startHost } from './world.ts'

/** Whoever is not held ends within a few ms. */
const HELD_MILLIS = 200

describe('the process', () => {
  it('ends by itself, at once and with code 0, when tunnels are idle, when a destination rests, and with nothing left when it closes no pool', async () => {
    const idle = async () => {
      await using site = await startHost()
      await using script = await Script.start('idle', site.target)
      assert.equal(await script.line(), 'open 1')
      const began = performance.now()
      assert.equal(await script.end(), 0, script.stderr)
      assert.ok(performance.now() - began < 1_000)
      assert.deepEqual(await script.files(), [])
    }
    const resting = async () => {
      await using site = await startHost()
      site.host.refuse()
      await using script = await Script.start('resting', site.target)
      assert.deepEqual([await script.line(), await script.line()], ['ERR_REFUSED', 'resting'])
      assert.equal(await script.end(), 0, script.stderr)
    }
    const returns = async () => {
      await using site = await startHost()
      await using script = await Script.start('returns', site.target)
      assert.ok((await script.line()).startsWith(script.base))
      assert.equal(await script.end(), 0, script.stderr)
      assert.deepEqual(await script.files(), [])
    }
    await Promise.all([idle(), resting(), returns()])
  })

  it('is held by an acquire that is pending', async () => {
    await using site = await startHost()
    site.host.freeze()
    await using script = await Script.start('pending', site.target)
    assert.equal(await script.line(), 'asked')
    await until(() => site.host.counts.connections === 1)
    await sleep(HELD_MILLIS)
    assert.equal(script.hasEnded, false)
    site.host.thaw()
    assert.equal(await script.line(), 'served')
  })

  it('is held by a lease until it is released', async () => {
    await using site = await startHost()
    await using script = await Script.start('leased', site.target)
    assert.equal(await script.line(), 'leased')
    await sleep(HELD_MILLIS)
    assert.equal(script.hasEnded, false)
    script.signal('SIGUSR2')
    assert.equal(await script.end(), 0, script.stderr)
  })

  it('B75 leaves nothing when it ends by process.exit or by a throw with all in use', async () => {
    const endBy = async (mode: string, signal: NodeJS.Signals, end: number) => {
      await using site = await startHost()
      await using script = await Script.start(mode, site.target)
      await script.line()
      script.signal(signal)
      assert.equal(await script.end(), end, script.stderr)
      assert.deepEqual(await script.files(), [])
      await until(() => site.host.counts.openChannels === 0)
    }
    await Promise.all([endBy('exit', 'SIGTERM', 3), endBy('throw', 'SIGUSR2', 1)])
  })

  it('B75 is ended by any signal as without a pool, and what it leaves is swept by the next', async () => {
    const endBy = async (signal: NodeJS.Signals): Promise<void> => {
      await using site = await startHost()
      await using script = await Script.start('listening', site.target)
      const socket = await script.line()
      script.signal(signal)
      assert.equal(await script.end(), signal)
      await until(() => site.host.counts.openChannels === 0)
      await using pool = makePool({ runtimeDirectory: script.base })
      const told = listen(pool)
      await pool.use(site.target, () => {})
      await until(() => named(told, 'pool.swept').length === 1, { within: 5_000 })
      assert.equal(named(told, 'pool.swept')[0]?.directories, 1)
      assert.equal(existsSync(socket), false)
      assert.deepEqual(await script.files(), [])
    }
    await Promise.all((['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const).map(endBy))
  })
})

describe('closeOnSignals', () => {
  it('drains, and then ends by the signal', async () => {
    await using site = await startHost()
    await using script = await Script.start('drains', site.target)
    assert.equal(await script.line(), 'leased')
    script.signal('SIGTERM')
    assert.equal(await script.line(), 'released false')
    assert.equal(await script.end(), 'SIGTERM', script.stderr)
    assert.deepEqual(await script.files(), [])
  })

  it('destroys at once at the second signal', async () => {
    await using site = await startHost()
    await using script = await Script.start('stays', site.target)
    assert.equal(await script.line(), 'leased')
    script.signal('SIGTERM')
    assert.equal(await script.line(), 'heard')
    await sleep(HELD_MILLIS)
    assert.equal(script.hasEnded, false)
    script.signal('SIGTERM')
    assert.equal(await script.end(), 'SIGTERM', script.stderr)
  })

  it('lets every pool of the process drain before the process ends', async () => {
    await using site = await startHost()
    await using script = await Script.start('two', site.target)
    assert.equal(await script.line(), 'leased')
    script.signal('SIGTERM')
    assert.equal(await script.line(), 'released false')
    assert.equal(await script.end(), 'SIGTERM', script.stderr)
  })

  it('listens only when asked to, and no longer than the pool lives', async () => {
    await using site = await startHost()
    const listeners = () => Object.fromEntries(process.eventNames().map((name) => [name, process.listenerCount(name)]))
    // tmp listens for the exit once it is loaded, which is with the first directory.
    await import('tmp')
    const before = listeners()
    const silent = makePool()
    const lease = await silent.acquire(site.target, { forwards: { web: { to: { port: 80 } } } })
    assert.equal(process.listenerCount('SIGUSR2'), 0)
    const listening = makePool({ closeOnSignals: ['SIGUSR2', 'SIGWINCH'] })
    assert.equal(process.listenerCount('SIGUSR2'), 1)
    assert.equal(process.listenerCount('SIGWINCH'), 1)
    lease.release()
    await Promise.all([silent.close(), listening.close()])
    assert.deepEqual(listeners(), before)
  })
})
