import assert from 'node:assert/strict'
import { failure, turn } from './gates.ts'
import { openTunnel, type TunnelWorld } from './tunnel-world.ts'

const FORCED = 'draining.releasing.forced'
const GRACEFUL = 'draining.releasing.graceful'

/** What ends an open tunnel whatever it is busy with, and how the release begins. */
const ends: ReadonlyArray<[what: string, code: string | undefined, how: (world: TunnelWorld) => unknown]> = [
  ['is lost', 'ERR_RESET', (world) => world.lose('ERR_RESET')],
  ['is destroyed', undefined, (world) => world.send({ type: 'tunnel.destroy', reason: 'at once' })],
  ['meets a throw of ours', 'ERR_LOST', (world) => world.send({ type: 'tunnel.fault', message: 'a bug' })],
]
const busy: ReadonlyArray<[state: string, enter: (world: TunnelWorld) => unknown]> = [
  ['open.idle', () => {}],
  ['open.leased', (world) => world.take()],
  ['open.verifying', (world) => world.send({ type: 'tunnel.verify' })],
]

describe('tunnel machine: open', () => {
  for (const [state, enter] of busy)
    for (const [what, code, how] of ends) {
      it(`releases by force when it ${what} in ${state}`, async () => {
        const world = await openTunnel()
        enter(world)
        assert.equal(world.state, state)
        how(world)
        assert.equal(world.state, FORCED)
        assert.equal(world.cuts, 1)
        assert.deepEqual(world.told.at(-1), { type: 'tunnel.draining', generation: 7, code, wasOpen: true })
      })
    }

  it('counts the edges 0→1 and 1→0 of its own generation only', async () => {
    const world = await openTunnel()
    assert.equal(world.take(6).state, 'open.idle')
    assert.equal(world.take().state, 'open.leased')
    assert.equal(world.known.isLeased, true)
    assert.equal(world.giveBack(6).state, 'open.leased')
    assert.equal(world.giveBack().state, 'open.idle')
    assert.equal(world.known.isLeased, false)
    assert.equal(world.giveBack().state, 'open.idle')
  })

  it('ignores a loss and a fault of another generation', async () => {
    const world = (await openTunnel()).take()
    world.lose('ERR_LOST', 6).send({ type: 'lease.faulted', generation: 6, lease: 'lease-0' })
    assert.equal(world.state, 'open.leased')
  })

  it('times idleness in idle only, and from its last lease', async () => {
    const world = await openTunnel()
    assert.equal(world.pass(119_999).take().state, 'open.leased')
    assert.equal(world.pass(1e9).state, 'open.leased')
    assert.equal(world.giveBack().pass(119_999).state, 'open.idle')
    assert.equal(world.send({ type: 'tunnel.verify' }).pass(4_999).state, 'open.verifying')
    world.probe.last().open()
    await turn()
    assert.equal(world.pass(119_999).state, 'open.idle')
    assert.equal(world.pass(1).state, GRACEFUL)
    assert.equal(world.known.reason, 'idle')
    assert.equal(world.known.code, undefined)
  })

  it('never idles out when that is Infinity', async () => {
    const world = await openTunnel({ times: { idleTimeoutMillis: Number.POSITIVE_INFINITY } })
    assert.equal(world.pass(1e12).state, 'open.idle')
  })

  it('makes one probe for all who ask', async () => {
    const world = await openTunnel()
    world.send({ type: 'tunnel.verify' }, { type: 'tunnel.verify' }, { type: 'tunnel.verify' })
    assert.equal(world.probe.calls.length, 1)
    world.probe.last().open()
    await turn()
    assert.equal(world.state, 'open.idle')
    assert.deepEqual(world.news, ['opened', 'proven'])
  })

  it('is released when a probe fails while it is idle', async () => {
    const world = (await openTunnel()).send({ type: 'tunnel.verify' })
    world.probe.last().fail(failure('ERR_CHANNEL_TIMEOUT'))
    await turn()
    assert.equal(world.state, FORCED)
    assert.equal(world.known.code, 'ERR_LOST')
    assert.equal(world.probe.calls.length, 1)
  })

  it('takes a probe without an answer for one that failed', async () => {
    const world = (await openTunnel()).send({ type: 'tunnel.verify' })
    assert.equal(world.pass(4_999).state, 'open.verifying')
    assert.equal(world.pass(1).state, FORCED)
    assert.equal(world.probe.last().signal.aborted, true)
  })

  for (const [how, fail] of [
    ['fails', (world: TunnelWorld) => world.probe.last().fail(failure('ERR_CHANNEL_TIMEOUT'))],
    ['is not answered', (world: TunnelWorld) => world.pass(5_000)],
  ] as const) {
    it(`probes again when a probe ${how} while it is leased, and is lost by the second`, async () => {
      const world = (await openTunnel()).take().send({ type: 'tunnel.verify' })
      fail(world)
      await turn()
      assert.equal(world.state, 'open.verifying')
      assert.equal(world.probe.calls.length, 2)
      assert.equal(world.cuts, 0)
      fail(world)
      await turn()
      assert.equal(world.state, FORCED)
      assert.equal(world.known.code, 'ERR_LOST')
    })
  }

  it('forgets a failed probe once another is answered', async () => {
    const world = (await openTunnel()).take()
    for (let round = 0; round < 3; round += 1) {
      world.send({ type: 'tunnel.verify' })
      world.probe.last().fail(failure('ERR_CHANNEL_TIMEOUT'))
      await turn()
      world.probe.last().open()
      await turn()
      assert.equal(world.state, 'open.leased')
    }
    assert.equal(world.probe.calls.length, 6)
  })

  it('hears of leases while it is verified', async () => {
    const world = (await openTunnel()).send({ type: 'tunnel.verify' })
    world.take(6)
    assert.equal(world.known.isLeased, false)
    world.take().probe.last().open()
    await turn()
    assert.equal(world.state, 'open.leased')
    world.send({ type: 'tunnel.verify' }).giveBack().probe.last().open()
    await turn()
    assert.equal(world.state, 'open.idle')
  })

  it('drains by a lease that comes back with a fault, and cuts nobody', async () => {
    const world = (await openTunnel()).take()
    world.send({ type: 'lease.faulted', generation: 7, lease: 'lease-1' })
    assert.equal(world.state, 'draining.finishing')
    assert.equal(world.cuts, 0)
    assert.equal(world.known.code, undefined)
    assert.equal(world.giveBack().state, GRACEFUL)
  })

  it('drains unleased when it is closed, and at once when nobody has a lease', async () => {
    assert.equal((await openTunnel()).close().state, GRACEFUL)
    assert.equal((await openTunnel()).take().close().state, 'draining.finishing')
  })
})

describe('tunnel machine: exclusive', () => {
  for (const [where, enter] of busy.slice(1)) {
    it(`closes with its lease, returned in ${where}`, async () => {
      const world = (await openTunnel({ isExclusive: true })).take()
      enter(world)
      assert.equal(world.state, where)
      assert.equal(world.giveBack(6).state, where)
      assert.equal(world.giveBack().state, GRACEFUL)
      assert.equal(world.known.code, undefined)
    })
  }

  it('closes when nobody takes the lease it was dialled for', async () => {
    const world = await openTunnel({ isExclusive: true })
    assert.equal(world.pass(120_000).state, GRACEFUL)
  })
})
