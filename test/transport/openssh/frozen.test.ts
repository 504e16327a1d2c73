import assert from 'node:assert/strict'
import type { Target, TunnelPool } from '../../../src/index.ts'
import { signal } from '../../../src/owners/child/group.ts'
import { entryOf } from '../../../src/owners/child/proc.ts'
import { descendantsOf } from '../../../src/testing/proc.ts'
import { startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

/** Bounds in which a call must have come back; the call's own are far below. */
const BOUND_MILLIS = 15_000

describe('openssh: what does not move', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  const target = (): Target => ({ ...sshd.target, transport: 'openssh' })
  /** The one ssh of the pool: its label is in the ledger, its pid in the kernel's list. */
  const pidOf = (pool: TunnelPool): number => {
    assert.equal(pool.resources().filter(({ kind }) => kind === 'child').length, 1)
    const [ssh] = descendantsOf(process.pid).filter(({ command }) => command === 'ssh')
    return ssh?.pid ?? assert.fail('no ssh')
  }
  const within = async <T>(promise: Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      return await promise
    } finally {
      assert.ok(performance.now() - began < BOUND_MILLIS)
    }
  }

  it('a stopped ssh: probe, connect and acquire are bounded, a fresh tunnel serves, and close ends it (B37)', async () => {
    await using pool = startPool({ channelTimeoutMillis: 300, keepAliveIntervalMillis: 60_000, verifyAfterMillis: 0 })
    const lease = await pool.acquire(target())
    const stopped = pidOf(pool)
    process.kill(stopped, 'SIGSTOP')
    const health = await within(pool.probe(target()))
    assert.notEqual(health.lastVerifiedAt, undefined)
    // Asked twice by then, it may be known to be lost.
    const error = await within(lease.connect({ port: 1 }).catch((reason) => reason))
    assert.ok(['ERR_CHANNEL_TIMEOUT', 'ERR_LOST'].includes(error.code), error.stack)
    lease.release()
    const fresh = await within(pool.acquire(target()))
    assert.ok(fresh.generation > lease.generation)
    assert.equal((await fresh.exec('echo alive')).stdout.toString(), 'alive\n')
    fresh.release()
    await within(pool.close({ timeoutMillis: 200 }))
    assert.equal(entryOf(stopped), undefined, 'ended and collected')
    assert.deepEqual(pool.resources(), [])
  })

  it('a stopped ssh with nobody waiting: close ends it by SIGKILL, in its grace', async () => {
    await using pool = startPool({ closeGraceMillis: 200 })
    const lease = await pool.acquire(target())
    const stopped = pidOf(pool)
    let wasForced = false
    pool.on('tunnel.closed', ({ forced }) => {
      wasForced = forced
    })
    process.kill(stopped, 'SIGSTOP')
    lease.release()
    await within(pool.close({ timeoutMillis: 100 }))
    assert.equal(entryOf(stopped), undefined)
    await until(() => wasForced)
  })

  it('a frozen server: the loss is known after interval × (count + 1), and not before count', async () => {
    await using pool = startPool({ keepAliveIntervalMillis: 1_000, keepAliveCountMax: 1, channelTimeoutMillis: 10_000 })
    const lease = await pool.acquire(target())
    const sessions = sshd.sessions()
    const began = performance.now()
    for (const pid of sessions) signal(pid, 'SIGSTOP')
    try {
      await until(() => lease.signal.aborted, { within: 8_000 })
      const millis = performance.now() - began
      assert.equal(lease.signal.reason.code, 'ERR_LOST')
      assert.match(lease.signal.reason.message, /keepalives|not responding/)
      assert.ok(millis > 950, `${millis}`)
      // A busy machine is late, not wrong.
      assert.ok(millis < 2_000 + (process.env.WARREN_LONG ? 1_500 : 5_000), `${millis}`)
    } finally {
      for (const pid of sessions) signal(pid, 'SIGCONT')
    }
    lease.release()
  })

  it('a frozen server that is asked about meanwhile is not said to be there (B36)', async () => {
    await using pool = startPool({ keepAliveIntervalMillis: 60_000 })
    const lease = await pool.acquire(target())
    await pool.probe(target())
    const sessions = sshd.sessions()
    for (const pid of sessions) signal(pid, 'SIGSTOP')
    try {
      // What was on its way may still come.
      await pool.probe(target(), { timeoutMillis: 50 })
      const before = pool.health(target()).lastVerifiedAt
      const health = await within(pool.probe(target(), { timeoutMillis: 200 }))
      assert.deepEqual(health.lastVerifiedAt, before)
    } finally {
      for (const pid of sessions) signal(pid, 'SIGCONT')
    }
    lease.release()
  })

  it('an ssh that is killed twenty times is made anew each time, and is one each time (B02)', async () => {
    await using pool = startPool({ backoffMinMillis: 1, backoffMaxMillis: 2 })
    const seen = new Set<number>()
    for (let round = 0; round < (process.env.WARREN_LONG ? 20 : 2); round += 1) {
      const lease = await pool.acquire(target(), { whenResting: 'wait' })
      const pid = pidOf(pool)
      assert.equal(seen.has(pid), false)
      seen.add(pid)
      process.kill(pid, 'SIGKILL')
      await until(() => lease.signal.aborted)
      assert.match(lease.signal.reason.message, /SIGKILL/)
      lease.release()
      await pool.settled()
    }
  })
})
