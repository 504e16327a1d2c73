import assert from 'node:assert/strict'
import type { TunnelEvent } from '../../machines/events.ts'
import { tunnelMachine } from '../../machines/tunnel.ts'
import { failure, turn } from './gates.ts'
import { openTunnel, TunnelWorld } from './tunnel-world.ts'

const FORCED = 'draining.releasing.forced'

describe('tunnel machine: opening', () => {
  it('has exactly five states at the top, two of them final', () => {
    assert.deepEqual(Object.keys(tunnelMachine.states), ['opening', 'open', 'draining', 'closed', 'failed'])
    const finals = Object.values(tunnelMachine.states).filter(({ type }) => type === 'final')
    assert.deepEqual(
      finals.map(({ key }) => key),
      ['closed', 'failed'],
    )
  })

  it('dials at once where no directory is needed', () => {
    const world = new TunnelWorld()
    assert.equal(world.state, 'opening.dialing')
    assert.equal(world.directory.calls.length, 0)
    assert.equal(world.dial.last().input.generation, 7)
  })

  it('makes the directory first where one is needed', async () => {
    const world = new TunnelWorld({ needsDirectory: true })
    assert.equal(world.state, 'opening.directory')
    assert.equal(world.dial.calls.length, 0)
    world.directory.last().open()
    await turn()
    assert.equal(world.state, 'opening.dialing')
  })

  it('is open, unleased and told so when the dial is done', async () => {
    const world = await openTunnel()
    assert.equal(world.state, 'open.idle')
    assert.deepEqual(world.told, [{ type: 'tunnel.opened', generation: 7 }])
    assert.equal(world.known.wasOpen, true)
  })

  const ends: ReadonlyArray<[what: string, code: string | undefined, how: (world: TunnelWorld) => unknown]> = [
    ['its dial fails', 'ERR_AUTH', (world) => world.dial.last().fail(failure('ERR_AUTH'))],
    ['its dial fails with no error at all', 'ERR_LOST', (world) => world.dial.last().fail(undefined)],
    ['its deadline passes', 'ERR_OPEN_TIMEOUT', (world) => world.pass(10_000)],
    ['it is closed', undefined, (world) => world.close()],
    ['it is destroyed', undefined, (world) => world.send({ type: 'tunnel.destroy', reason: 'nobody waits' })],
    ['its connection is lost before the dial is told', 'ERR_RESET', (world) => world.lose('ERR_RESET')],
    ['our own code throws', 'ERR_LOST', (world) => world.send({ type: 'tunnel.fault', message: 'a bug' })],
  ]
  for (const [what, code, how] of ends) {
    it(`begins the forced release when ${what}`, async () => {
      const world = new TunnelWorld()
      how(world)
      await turn()
      assert.equal(world.state, FORCED)
      assert.equal(world.known.code, code)
      assert.notEqual(world.known.reason, '')
      assert.deepEqual(world.told, [{ type: 'tunnel.draining', generation: 7, code, wasOpen: false }])
      await world.released()
      assert.equal(world.state, code === undefined ? 'closed' : 'failed')
      assert.equal(world.told.at(-1)?.type, 'tunnel.ended')
    })
  }

  it('aborts the dial that it gives up', () => {
    const world = new TunnelWorld().close()
    assert.equal(world.dial.last().signal.aborted, true)
  })

  it('does not open when its dial is done after all', async () => {
    const world = new TunnelWorld().lose()
    world.dial.last().open()
    await turn()
    assert.equal(world.state, FORCED)
    assert.deepEqual(world.news, ['draining'])
  })

  it('begins the release when the directory cannot be made, and the deadline covers its making', async () => {
    const failing = new TunnelWorld({ needsDirectory: true })
    failing.directory.last().fail(failure('ERR_RUNTIME_DIRECTORY'))
    await turn()
    assert.equal(failing.state, FORCED)
    assert.equal(failing.known.code, 'ERR_RUNTIME_DIRECTORY')
    const slow = new TunnelWorld({ needsDirectory: true }).pass(6_000)
    slow.directory.last().open()
    await turn()
    assert.equal(slow.state, 'opening.dialing')
    assert.equal(slow.pass(3_999).state, 'opening.dialing')
    assert.equal(slow.pass(1).state, FORCED)
  })

  it('has no deadline when that is Infinity', () => {
    const world = new TunnelWorld({ times: { openTimeoutMillis: Number.POSITIVE_INFINITY } })
    assert.equal(world.pass(1e12).state, 'opening.dialing')
  })

  it('ignores what is meant for another generation or for an open tunnel', () => {
    const world = new TunnelWorld()
    const ignored: TunnelEvent[] = [{ type: 'tunnel.verify' }, { type: 'drain.expired' }]
    world
      .lose('ERR_LOST', 6)
      .take()
      .giveBack()
      .send(...ignored)
    assert.equal(world.state, 'opening.dialing')
    assert.equal(world.known.isLeased, false)
  })
})
