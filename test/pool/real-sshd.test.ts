import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { startOrigin } from '../support/origin.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { makePool, rejection, settling } from './world.ts'

/** Login processes of sshd; each connection has one or two. */
const isGone = (sshd: { sessions(): number[] }) => () => sshd.sessions().length === 0

describe("a pool against OpenSSH's own server", () => {
  it('makes one login for all, carries what it is given, and leaves no session', async () => {
    await using sshd = await startSshd()
    await using origin = await startOrigin()
    const pool = makePool()
    const leases = await Promise.all(
      Array.from({ length: 50 }, () => pool.acquire(sshd.target, { forwards: { web: { to: { port: origin.port } } } })),
    )
    assert.equal(sshd.log().match(/Accepted publickey/g)?.length, 1)
    await Promise.all(
      leases.map(async (lease) => {
        const [response] = await once(get({ ...lease.forwards.web.address, path: '/bytes/100000', agent: false }), 'response')
        let bytes = 0
        for await (const chunk of response) bytes += chunk.length
        assert.equal(bytes, 100_000)
      }),
    )
    const { stdout, exitCode } = (await leases[0]?.exec('cat; exit 3', { input: 'in' })) ?? assert.fail()
    assert.deepEqual([stdout.toString(), exitCode], ['in', 3])
    for (const lease of leases) lease.release()
    await pool.close()
    await until(isGone(sshd))
  })

  it('notices a session that is killed, and dials again', async () => {
    await using sshd = await startSshd()
    await using pool = makePool()
    for (let generation = 1; generation <= 3; generation += 1) {
      const lease = await pool.acquire(sshd.target)
      assert.equal(lease.generation, generation)
      const run = settling(lease.exec('sleep 60'))
      sshd.killSessions()
      await until(() => lease.signal.aborted)
      await until(() => run.state === 'rejected')
      assert.equal(lease.signal.reason.code, 'ERR_LOST')
    }
  })

  it('B35 notices one that is stopped, by keepalives, and ends it without its help', async () => {
    await using sshd = await startSshd()
    await using pool = makePool({ keepAliveIntervalMillis: 80, keepAliveCountMax: 2 })
    const lease = await pool.acquire(sshd.target)
    const began = performance.now()
    sshd.killSessions('SIGSTOP')
    await until(() => lease.signal.aborted)
    const took = performance.now() - began
    // Interval × (count + 1), and no earlier than the last answer allows.
    assert.ok(took > 150 && took < 1_000, `${took} ms`)
    await until(() => pool.resources().length === 0)
    sshd.killSessions('SIGKILL')
  })

  it('closes within its bound while every session is stopped', async () => {
    await using sshd = await startSshd()
    const pool = makePool({ closeGraceMillis: 150 })
    const leases = await Promise.all(Array.from({ length: 5 }, () => pool.acquire(sshd.target, { exclusive: true })))
    for (const lease of leases.slice(2)) lease.release()
    sshd.killSessions('SIGSTOP')
    const began = performance.now()
    await pool.close({ timeoutMillis: 100 })
    assert.ok(performance.now() - began < 500)
    assert.deepEqual(pool.resources(), [])
    sshd.killSessions('SIGKILL')
  })

  it('rests while it is down, and serves when it is back', async () => {
    await using sshd = await startSshd()
    await using pool = makePool({ backoffMinMillis: 20, backoffMaxMillis: 60 })
    await pool.use(sshd.target, () => {})
    await sshd.stop()
    await until(() => pool.health(sshd.target).state !== 'serving')
    await rejection(pool.acquire(sshd.target), 'ERR_REFUSED')
    const waiting = pool.acquire(sshd.target, { whenResting: 'wait' })
    await sshd.start()
    ;(await waiting).release()
  })
})
