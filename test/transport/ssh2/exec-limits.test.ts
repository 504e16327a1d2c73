import assert from 'node:assert/strict'
import { startHostile } from '../../support/hostile.ts'
import { startOrigin } from '../../support/origin.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const AT_ONCE = 10
/** Ends when nobody listens any more: sshd passes no signal on to a session of root (9.2: "session signalling requires privilege separation"). */
const TALKS = 'while echo on; do sleep 0.05; done'

describe('ssh2: commands at once', () => {
  it('ten of them, each with its own output and code', async () => {
    await using sshd = await startSshd()
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => index)
    const results = await Promise.all(
      numbers.map((number) => lease.exec(`cat; echo -n e${number} >&2; exit ${number}`, { input: `o${number}` })),
    )
    assert.deepEqual(
      results.map(({ stdout, stderr, exitCode, signal }) => [String(stdout), String(stderr), exitCode, signal]),
      numbers.map((number) => [`o${number}`, `e${number}`, number, null]),
    )
    await until(() => !pool.resources().some(({ kind }) => kind === 'channel'))
  })

  it('B68: more than MaxSessions is refused with a typed error; forwards and the tunnel are not concerned', async () => {
    await using sshd = await startSshd({ config: { MaxSessions: '1' } })
    await using origin = await startOrigin()
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const controller = new AbortController()
    const first = refusal(lease.exec(TALKS, { signal: controller.signal }), 'ERR_ABORTED')
    await until(() => sshd.log().includes('Starting session'))
    const error = await refusal(lease.exec('echo second'), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.equal(error.retryable, true)
    assert.doesNotMatch(error.message, /second/)
    const sockets = await Promise.all(Array.from({ length: 50 }, () => lease.connect({ port: origin.port })))
    await until(() => origin.connections === 50)
    for (const socket of sockets) socket.destroy()
    controller.abort()
    await first
    // The place is free again as soon as the server says so.
    const ran = await until(() => lease.exec('echo third').catch(() => undefined), { within: 10_000 })
    assert.equal(String(ran?.stdout), 'third\n')
    assert.equal(lease.signal.aborted, false)
    assert.equal(pool.stats.opened, 1)
  })

  it('one that is given up before the server has answered is hung up, too', async () => {
    const signals: string[] = []
    let asked = 0
    await using host = await startHostile({
      serve: (connection) =>
        connection.on('session', (accept) => {
          const session = accept()
          // It runs, and says so never.
          session.on('exec', () => {
            asked += 1
          })
          session.on('signal', (_accept, _reject, { name }) => signals.push(name))
        }),
    })
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    const controller = new AbortController()
    const run = refusal(lease.exec('sleep 60', { signal: controller.signal }), 'ERR_ABORTED')
    await until(() => asked === 1)
    controller.abort()
    await run
    await until(() => signals.length === 1)
    assert.deepEqual(signals, ['HUP'])
  })
})
