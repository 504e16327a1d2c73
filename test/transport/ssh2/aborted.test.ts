import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { TunnelError } from '../../../src/index.ts'
import { startFleet } from '../../../src/testing/index.ts'
import { startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const STEPS = 40

describe('ssh2: a dial that is given up', () => {
  it('at any of 40 moments leaves nothing, on either side, and no error is unheard', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    // What is loaded at the first dial takes longer than a dial.
    await using first = startPool()
    await using _lease = await first.acquire(host.target)
    host.delay(4)
    const outcomes: unknown[] = []
    for (let step = 0; step < STEPS; step += 1) {
      const pool = startPool()
      const dial = pool.acquire(host.target).then(
        () => undefined,
        (error) => error,
      )
      await sleep(step)
      await pool.destroy()
      assert.deepEqual(pool.resources(), [])
      outcomes.push(await dial)
    }
    for (const outcome of outcomes) assert.ok(outcome === undefined || TunnelError.is(outcome), String(outcome))
    const aborted = outcomes.filter((outcome) => outcome !== undefined)
    assert.ok(aborted.length > 10, `only ${aborted.length} were under way`)
    assert.ok(host.counts.connections > 10, `only ${host.counts.connections} came to a connection`)
    await until(() => host.counts.openChannels === 0)
  })

  it('by the end of its pool rejects at once with what the pool was ended for', async () => {
    await using host = await startHostile({ authenticate: () => {} })
    const pool = startPool()
    const dial = pool.acquire(host.target)
    await until(() => host.connections.length === 1)
    const [error] = await Promise.all([refusal(dial, 'ERR_POOL_CLOSED'), pool.destroy(new Error('the operator'))])
    assert.equal((error.cause as Error | undefined)?.message, 'the operator')
    await until(() => host.open === 0)
  })

  it('is not one when the server drops logins by chance (MaxStartups): ERR_RESET, which a retry mends', async () => {
    await using sshd = await startSshd({ config: { MaxStartups: '1:100:1', LoginGraceTime: '30' } })
    await using holder = await startHolder(sshd.port)
    await using pool = startPool({ acquireTimeoutMillis: 3_000 })
    const error = await refusal(pool.acquire(sshd.target), 'ERR_RESET', 'banner')
    assert.equal(error.retryable, true)
    await holder[Symbol.asyncDispose]()
    await until(() => sshd.sessions().length === 0)
    const lease = await pool.acquire(sshd.target, { whenResting: 'wait' })
    lease.release()
  })
})

/** Takes a place among those who have not logged in yet. */
async function startHolder(port: number): Promise<AsyncDisposable> {
  const { connect } = await import('node:net')
  const socket = connect({ host: '127.0.0.1', port })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise((resolve) => socket.once('data', resolve))
  return {
    [Symbol.asyncDispose]: async () => {
      socket.destroy()
      await closed
    },
  }
}
