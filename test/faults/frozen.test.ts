import assert from 'node:assert/strict'
import { makePool, rejection, settling } from '../pool/world.ts'
import { startRelay } from '../support/relay.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { sshProcesses, TRANSPORTS } from './world.ts'

for (const transport of TRANSPORTS)
  describe(`faults of a link that hangs (${transport})`, () => {
    let sshd: Sshd

    before(async () => {
      sshd = await startSshd()
    })
    after(() => sshd.close())

    it('B35, B36: health does not believe the local process: a probe of a frozen link says so, within its bound', async () => {
      await using relay = await startRelay(sshd)
      const target = relay.through(sshd.target)
      await using pool = makePool({ transport, channelTimeoutMillis: 400 })
      ;(await pool.acquire(target)).release()
      const { lastVerifiedAt } = pool.health(target)
      assert.ok(lastVerifiedAt)
      relay.freeze()
      const health = await pool.probe(target)
      assert.notEqual(health.state, 'serving')
      assert.ok((health.lastVerifiedAt?.getTime() ?? 0) <= Date.now())
      assert.ok(health.cause !== undefined, 'with why')
    })

    it('B90: a stall that is shorter than the tolerance costs nothing', async () => {
      await using relay = await startRelay(sshd)
      const target = relay.through(sshd.target)
      await using pool = makePool({
        transport,
        keepAliveIntervalMillis: 1_000,
        keepAliveCountMax: 5,
        channelTimeoutMillis: 8_000,
      })
      const lease = await pool.acquire(target)
      relay.freeze()
      const frozenAt = performance.now()
      const run = settling(lease.exec('true'))
      await until(() => performance.now() - frozenAt > 1_500, { within: 3_000, what: 'one keepalive and a half have passed' })
      relay.thaw()
      await until(() => run.state === 'fulfilled', { within: 5_000 })
      assert.equal(lease.signal.aborted, false)
      assert.equal(pool.stats.opened, 1)
      lease.release()
    })

    it('B92: never checked differs from failed and from ok', async () => {
      await using pool = makePool({ transport, backoffMinMillis: 1e12, backoffMaxMillis: 1e12 })
      assert.deepEqual(
        [pool.health(sshd.target).state, pool.health(sshd.target).lastVerifiedAt, pool.health(sshd.target).failures],
        ['unknown', undefined, 0],
      )
      await using gone = await startRelay({ port: 1 })
      gone.refuse()
      const dead = gone.through(sshd.target)
      await rejection(pool.acquire(dead))
      const failed = pool.health(dead)
      assert.deepEqual([failed.state, failed.lastVerifiedAt, failed.failures], ['resting', undefined, 1])
      const began = Date.now()
      ;(await pool.acquire(sshd.target)).release()
      const ok = pool.health(sshd.target)
      assert.deepEqual([ok.state, ok.failures], ['serving', 0])
      assert.ok((ok.lastVerifiedAt?.getTime() ?? 0) >= began - 1_000)
    })
  })

describe('faults of an ssh that hangs (openssh)', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  it('B37: a stopped ssh bounds every call: health, close by SIGKILL, and a fresh tunnel', async () => {
    await using pool = makePool({ transport: 'openssh', channelTimeoutMillis: 300, closeGraceMillis: 200 })
    const lease = await pool.acquire(sshd.target)
    for (const { pid } of sshProcesses()) process.kill(pid, 'SIGSTOP')
    lease.release()
    const health = await pool.probe(sshd.target)
    assert.notEqual(health.state, 'serving')
    const next = await pool.acquire(sshd.target, { whenResting: 'dial' })
    assert.ok(next.generation > lease.generation)
    assert.equal((await next.exec('echo on')).stdout.toString(), 'on\n')
    for (const { pid } of sshProcesses()) process.kill(pid, 'SIGSTOP')
    const began = performance.now()
    await pool.close({ timeoutMillis: 0 })
    assert.ok(performance.now() - began < 3_000)
    assert.deepEqual(sshProcesses(), [])
  })
})
