// The same with Node's own runner: `node --test examples/testing/node.test.mjs`.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createTunnelPool } from 'ssh-warren'
import { assertNoLeaks, census, startFleet } from 'ssh-warren/testing'
import { createServer } from './server.mjs'

test('a host that restarts is dialled again', async () => {
  const fleet = await startFleet()
  try {
    const baseline = await census()
    const pool = createTunnelPool()
    const [host] = fleet.hosts
    const server = createServer(pool, [host])
    assert.deepEqual(await server.check(), ['200'])
    host.sever()
    assert.deepEqual(await server.check(), ['200'])
    assert.equal(host.counts.logins, 2)
    await pool.close()
    await assertNoLeaks(pool, { baseline })
  } finally {
    await fleet.close()
  }
})
