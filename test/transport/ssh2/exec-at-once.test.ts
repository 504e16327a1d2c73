import assert from 'node:assert/strict'
import type { Fleet } from '../../../src/testing/index.ts'
import { startFleet } from '../../../src/testing/index.ts'
import { startPool } from '../../support/pool.ts'

describe('ssh2: a command of which a server tells the start and the end in one breath', () => {
  let fleet: Fleet

  before(async () => {
    fleet = await startFleet()
  })

  after(() => fleet.close())

  it('has its exit status, or its signal, and all it said', async () => {
    const pool = startPool()
    const [target] = fleet.targets
    assert.ok(target)
    const told = await pool.use(target, async (lease) => {
      const results = [await lease.exec('echo out; exit 3'), await lease.exec('true'), await lease.exec('kill -TERM $$')]
      return results.map(({ stdout, exitCode, signal }) => [String(stdout), exitCode, signal])
    })
    assert.deepEqual(told, [
      ['out\n', 3, null],
      ['', 0, null],
      ['', null, 'SIGTERM'],
    ])
    await pool.close()
  })
})
