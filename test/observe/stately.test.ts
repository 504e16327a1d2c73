import assert from 'node:assert/strict'
import { createInspector, createWebSocketInspector } from '@statelyai/inspect'
import { makePool, startHost } from '../pool/world.ts'

interface Sent {
  readonly type: string
  readonly sessionId: string
  readonly name?: string
  readonly parentId?: string
  readonly definition?: string
}

describe("Stately's inspector", () => {
  it('takes what the pool gives it: one tree with the machines as its definitions', async () => {
    await using site = await startHost()
    const sent: Sent[] = []
    const inspector = createInspector({ send: (event) => void sent.push(event as Sent) })
    const pool = makePool()
    const detach = pool.inspect(inspector.inspect as never)
    await pool.use(site.target, () => {})
    await pool.close()
    detach()
    const actors = new Map(sent.filter(({ type }) => type === '@xstate.actor').map((actor) => [actor.sessionId, actor]))
    const roots = [...actors.values()].filter(({ parentId }) => parentId === undefined)
    assert.deepEqual(
      roots.map(({ name }) => name),
      ['pool'],
    )
    for (const { parentId } of actors.values()) assert.ok(parentId === undefined || actors.has(parentId))
    for (const event of sent) assert.ok(actors.has(event.sessionId), event.type)
    const tunnel = [...actors.values()].find(({ name }) => name === 'tunnel-1')
    const definition = JSON.parse(tunnel?.definition ?? '{}') as { id?: string; states?: object }
    assert.equal(definition.id, 'tunnel')
    assert.deepEqual(Object.keys(definition.states ?? {}), ['closed', 'draining', 'failed', 'open', 'opening'])
    const secret = (site.target.identity as { key: string }).key.split('\n')[3] ?? assert.fail()
    assert.ok(!JSON.stringify(sent).includes(secret.slice(0, 40)))
  })

  it('cannot break the pool, either, when nobody listens where it sends to', async () => {
    await using site = await startHost()
    const inspector = createWebSocketInspector({ url: 'ws://127.0.0.1:1', autoStart: false })
    const pool = makePool()
    const detach = pool.inspect(inspector.inspect as never)
    assert.equal(await pool.use(site.target, () => 'served'), 'served')
    await pool.close()
    detach()
    inspector.stop()
  })
})
