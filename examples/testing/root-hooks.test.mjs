// No hook of one's own: `npx mocha --require ssh-warren/testing/mocha examples/testing/root-hooks.test.mjs` fails every test that leaves something behind.
import assert from 'node:assert/strict'
import { createTunnelPool } from 'ssh-warren'
import { startFleet } from 'ssh-warren/testing'
import { track } from 'ssh-warren/testing/mocha'
import { createServer } from './server.mjs'

describe('the server, under root hooks', () => {
  it('tells a healthy host', async () => {
    const fleet = await startFleet()
    const pool = track(createTunnelPool())
    assert.deepEqual(await createServer(pool, [fleet.hosts[0]]).check(), ['200'])
    await pool.close()
    await fleet.close()
  })
})
