// Tests a small server with mocha: `npx mocha examples/testing/mocha.test.mjs`. The SSH host is real, and in this process.
import assert from 'node:assert/strict'
import { createTunnelPool } from 'ssh-warren'
import { assertNoLeaks, census, startFleet } from 'ssh-warren/testing'
import { createServer } from './server.mjs'

let fleet
let pool
let baseline

// Hooks that hold every test to leaving nothing behind, by the pool's ledger and by the kernel.
before(async () => {
  fleet = await startFleet({ hosts: 2 })
})
beforeEach(async () => {
  baseline = await census()
  pool = createTunnelPool({ openTimeoutMillis: 1_000 })
})
afterEach(async () => {
  await pool.close()
  await assertNoLeaks(pool, { baseline })
})
after(() => fleet.close())

describe('the server', () => {
  it('tells a healthy host', async () => {
    const [host] = fleet.hosts
    const server = createServer(pool, [host])
    assert.deepEqual(await server.check(), ['200'])
    assert.equal(host.counts.requests, 1)
  })

  it('tells a host that refuses from one that is well, and recovers', async () => {
    const [well, ill] = fleet.hosts
    const server = createServer(pool, [well, ill])
    ill.refuse()
    assert.deepEqual(await server.check(), ['200', 'ERR_REFUSED'])
    ill.refuse(false)
    pool.reset(ill.target)
    assert.deepEqual(await server.check(), ['200', '200'])
  })
})
