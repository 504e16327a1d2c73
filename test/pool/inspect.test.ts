import assert from 'node:assert/strict'
import type { InspectedEvent } from '../../src/api/report.ts'
import { until } from '../support/until.ts'
import { makePool, startHost } from './world.ts'

interface Shown {
  readonly sessionId: string
  readonly id: string
  readonly _parent: Shown | undefined
  getSnapshot(): { status: string; value?: unknown; context?: Record<string, unknown> }
}
const actorOf = (event: InspectedEvent) => event.actorRef as Shown
const rootOf = (actor: Shown): Shown => (actor._parent === undefined ? actor : rootOf(actor._parent))
const topOf = (event: InspectedEvent): string => {
  const { value } = event.snapshot as { value?: unknown }
  return typeof value === 'string' ? value : (Object.keys((value as object | undefined) ?? {})[0] ?? '')
}

describe('inspect', () => {
  it('shows every machine as one tree under the pool, and its states as they come', async () => {
    await using site = await startHost()
    const events: InspectedEvent[] = []
    const pool = makePool()
    const detach = pool.inspect((event) => events.push(event))
    await pool.use(site.target, () => {})
    await pool.close()
    detach()
    assert.ok(events.length > 20)
    assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(['@xstate.actor', '@xstate.event', '@xstate.snapshot']))
    assert.deepEqual(new Set(events.map(({ rootId }) => rootId)), new Set(['pool']))
    assert.deepEqual(new Set(events.map((event) => rootOf(actorOf(event)).id)), new Set(['pool']))
    // Whoever is seen was announced, with its parent before it.
    const announced = new Set<string>()
    for (const event of events) {
      const actor = actorOf(event)
      if (event.type === '@xstate.actor') announced.add(actor.sessionId)
      assert.ok(announced.has(actor.sessionId), `${event.type} of ${actor.id} before it was announced`)
      assert.ok(actor._parent === undefined || announced.has(actor._parent.sessionId), `the parent of ${actor.id}`)
    }
    const states = (id: RegExp) => {
      const seen = events.filter((event) => event.type === '@xstate.snapshot' && id.test(actorOf(event).id)).map(topOf)
      return seen.filter((state, index) => state !== seen[index - 1])
    }
    assert.deepEqual(states(/^tunnel-1$/), ['opening', 'open', 'draining', 'closed'])
    assert.deepEqual(states(/^fleet@/).slice(0, 3), ['dormant', 'dialing', 'serving'])
    assert.equal(states(/^pool$/).at(-1), 'closed')
  })

  it('begins with what is there when somebody attaches late, and ends when he detaches', async () => {
    await using site = await startHost()
    await using pool = makePool()
    const lease = await pool.acquire(site.target)
    const events: InspectedEvent[] = []
    const detach = pool.inspect((event) => events.push(event))
    const present = events.map((event) => [event.type, actorOf(event).id])
    assert.ok(present.every(([type]) => type === '@xstate.actor'))
    for (const id of ['pool', lease.destination, 'tunnel-1'])
      assert.ok(
        present.some(([, shown]) => shown === id),
        id,
      )
    lease.release()
    await until(() => events.some(({ type }) => type === '@xstate.event'))
    detach()
    const { length } = events
    await pool.use(site.target, () => {})
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    assert.equal(events.length, length)
    detach()
  })

  it("takes what Stately's inspectors give, several at once, and none of them can break the pool", async () => {
    await using site = await startHost()
    await using pool = makePool()
    let seen = 0
    const detaches = [
      pool.inspect({
        next: () => {
          seen += 1
        },
      }),
      pool.inspect({}),
      pool.inspect(() => {
        throw new Error('of the observer')
      }),
      pool.inspect((() => Promise.reject(new Error('of an async observer'))) as never),
    ]
    await pool.use(site.target, () => {})
    assert.ok(seen > 10)
    for (const detach of detaches) detach()
  })
})
