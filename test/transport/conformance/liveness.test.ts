import assert from 'node:assert/strict'
import { once } from 'node:events'
import { refusal } from '../../support/pool.ts'
import { until } from '../../support/until.ts'
import { onBoth } from './world.ts'

onBoth('whether the server is there', (world) => {
  it('is a round trip through it', async () => {
    const before = Date.now()
    const { state, lastVerifiedAt } = await world.pool.probe(world.sshd.target)
    assert.equal(state, 'serving')
    assert.ok((lastVerifiedAt?.getTime() ?? 0) >= before - 1)
    await until(() => world.channels === 0)
  })

  it('is never taken from this side alone: one that is frozen is not proven, and is lost', async () => {
    const { relay, pool, lease } = await world.behindRelay({ channelTimeoutMillis: 200 })
    relay.freeze()
    const target = relay.through(world.sshd.target)
    const frozenAt = Date.now()
    const { lastVerifiedAt } = await pool.probe(target)
    assert.ok((lastVerifiedAt?.getTime() ?? 0) <= frozenAt + 1)
    await until(() => lease.signal.aborted, { within: 5_000 })
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
  })

  it('is asked every interval while it is silent, and it is lost after interval × (count + 1)', async () => {
    const times = { keepAliveIntervalMillis: 200, keepAliveCountMax: 2 }
    const { relay, lease } = await world.behindRelay({}, times)
    await lease.exec('sleep 1')
    assert.equal(lease.signal.aborted, false)
    const frozenAt = performance.now()
    relay.freeze()
    await once(lease.signal, 'abort')
    const took = performance.now() - frozenAt
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
    assert.match(lease.signal.reason.message, /does not answer keepalives/)
    assert.ok(took > 350, `after ${took} ms`)
  })

  it('is found while channels are open and idle, too', async () => {
    const times = { keepAliveIntervalMillis: 200, keepAliveCountMax: 1 }
    const { relay, lease } = await world.behindRelay({}, times)
    const socket = await lease.connect({ port: world.server.port })
    const failed = once(socket, 'error')
    relay.freeze()
    assert.equal((await failed)[0].code, 'ERR_LOST')
  })

  it('is known at once when it is reset, or ends', async () => {
    for (const end of ['reset', 'refuse'] as const) {
      const { relay, lease } = await world.behindRelay()
      relay[end]()
      if (end === 'refuse') world.sshd.killSessions()
      await until(() => lease.signal.aborted)
      assert.equal(lease.signal.reason.code, 'ERR_LOST')
    }
  })

  it('holds a probe no longer than its bound', async () => {
    const { relay, pool } = await world.behindRelay()
    relay.freeze()
    const began = performance.now()
    await pool.probe(relay.through(world.sshd.target), { timeoutMillis: 100 })
    assert.ok(performance.now() - began < 2_000)
  })
})

onBoth(
  'a server that grants no session',
  (world) => {
    it('is probed all the same, and runs no command', async () => {
      for (let count = 0; count < 5; count += 1) assert.equal((await world.pool.probe(world.sshd.target)).state, 'serving')
      await refusal(world.lease.exec('true'), 'ERR_CHANNEL_REFUSED')
      const socket = await world.lease.connect({ port: world.server.port })
      socket.destroy()
    })
  },
  { config: { MaxSessions: '0' } },
)
