import assert from 'node:assert/strict'
import { DestinationWorld, failedWorld, servingWorld } from './destination-world.ts'
import { openTunnel } from './tunnel-world.ts'

/** Plain data: nothing that cannot be copied, compared and written down. */
function assertPlain(context: object): void {
  assert.deepEqual(structuredClone(context), context)
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
      assert.ok(['string', 'number', 'boolean', 'undefined'].includes(typeof value), typeof value)
      return
    }
    assert.ok(Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(context)
  assert.doesNotThrow(() => JSON.stringify(context))
}

describe('the machines: their contexts', () => {
  it('tunnel: plain data from its birth to its end', async () => {
    const world = await openTunnel()
    const steps: Array<() => unknown> = [
      () => world.take(),
      () => world.send({ type: 'tunnel.verify' }),
      () => world.giveBack(),
      () => world.close({ withinMillis: 5, graceMillis: 5 }),
      () => world.lose(),
      () => world.pass(5),
      () => world.pass(1_000),
      () => world.released(),
    ]
    assertPlain(world.known)
    for (const step of steps) {
      await step()
      assertPlain(world.known)
    }
    assert.equal(world.state, 'closed')
    assertPlain(world.tunnel.getSnapshot().output ?? {})
  })

  it('destination: plain data, with nothing of an error but its code', async () => {
    for (const world of [
      await failedWorld(['ERR_AUTH', 'ERR_REFUSED', 'ERR_HOST_KEY']),
      (await servingWorld()).retire(true),
      new DestinationWorld().want(),
    ]) {
      await world.admitExclusive()
      assertPlain(world.known)
      await world.send({ type: 'destination.destroy', reason: 'at once' }).settle()
      assertPlain(world.known)
    }
  })

  it('do not grow with what has been', async () => {
    const world = await servingWorld()
    const size = () => JSON.stringify(world.known).length
    const once = async () => {
      await world.want().settle()
      const { current } = world.known
      if (current !== undefined) await world.lost(current)
      await world.opened(await world.admit())
      await world.opened(await world.admitExclusive())
      await world.lost(world.known.exclusive[0] ?? 0)
      world.send({ type: 'dial.unwanted' })
    }
    await once()
    const before = size()
    for (let count = 0; count < 30; count += 1) await once()
    assert.ok(size() - before < 10, `${before} → ${size()}`)
    assert.equal(Object.keys(world.actor.getSnapshot().children).length, 1)
  })
})
