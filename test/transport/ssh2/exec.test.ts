import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { AcceptConnection, Session } from 'ssh2'
import type { Lease, TunnelPool } from '../../../src/index.ts'
import { startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startRelay } from '../../support/relay.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const MIB = 1024 * 1024

describe('ssh2: a command', () => {
  let sshd: Sshd
  let pool: TunnelPool
  let lease: Lease

  before(async () => {
    sshd = await startSshd()
  })

  after(() => sshd.close())

  beforeEach(async () => {
    pool = startPool()
    lease = await pool.acquire(sshd.target)
  })

  afterEach(async () => {
    lease.release()
    await pool.close()
  })

  const channels = () => pool.resources().filter(({ kind }) => kind === 'channel').length
  /** A command that leaves its pid and then does nothing, neither reading nor writing. */
  function stubborn(): { command: string; pid: () => number } {
    const path = join(sshd.directory, `pid-${Math.random()}`)
    return {
      command: `echo $$ >${path}.new; mv ${path}.new ${path}; exec sleep 600`,
      pid: () => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0),
    }
  }
  /** The server has been asked to hang it up: it is gone, or sshd says that it delivers no signals to what root runs. */
  async function assertHungUp(pid: number, said: number): Promise<void> {
    const isRefused = () => /session signalling requires privilege separation/.test(sshd.log().slice(said))
    await until(() => !existsSync(`/proc/${pid}`) || isRefused())
    if (isRefused()) process.kill(pid)
    await until(() => channels() === 0)
  }

  it('gives its output, its error output and its exit code', async () => {
    const result = await lease.exec('echo out; echo err >&2; exit 3')
    assert.deepEqual(
      { ...result, stdout: String(result.stdout), stderr: String(result.stderr) },
      { stdout: 'out\n', stderr: 'err\n', exitCode: 3, signal: null },
    )
    await until(() => channels() === 0)
  })

  it('gives the signal that ended it', async () => {
    const { exitCode, signal } = await lease.exec('kill -TERM $$')
    assert.deepEqual([exitCode, signal], [null, 'SIGTERM'])
  })

  it('is given its input, text or bytes, and its end', async () => {
    assert.equal(String((await lease.exec('cat', { input: 'text' })).stdout), 'text')
    assert.deepEqual([...(await lease.exec('cat', { input: Uint8Array.of(0, 255) })).stdout], [0, 255])
    assert.equal((await lease.exec('cat')).stdout.length, 0)
    const much = Buffer.alloc(4 * MIB, 'x')
    const { stdout } = await lease.exec('cat', { input: much, maxOutputBytes: 4 * MIB })
    assert.ok(stdout.equals(much))
  })

  it('need not read its input', async () => {
    assert.equal((await lease.exec('exit 4', { input: Buffer.alloc(8 * MIB) })).exitCode, 4)
    await until(() => channels() === 0)
  })

  it('loses no error output, however late that comes', async () => {
    const results = await Promise.all(Array.from({ length: 9 }, () => lease.exec('head -c 100000 /dev/zero >&2; echo end >&2')))
    for (const { stderr } of results) assert.equal(stderr.length, 100_004)
  })

  for (const stream of ['stdout', 'stderr'] as const) {
    it(`that writes more than maxOutputBytes to ${stream} is ERR_EXEC and ended`, async () => {
      const to = stream === 'stdout' ? '' : ' >&2'
      assert.equal((await lease.exec(`head -c 1000 /dev/zero${to}`, { maxOutputBytes: 1_000 }))[stream].length, 1_000)
      const error = await refusal(lease.exec(`exec cat /dev/zero${to}`, { maxOutputBytes: 1_000 }), 'ERR_EXEC')
      assert.match(error.message, new RegExp(`1000 bytes to ${stream}`))
      await until(() => channels() === 0)
    })
  }

  it('that takes longer than its timeout is ERR_EXEC and hung up', async () => {
    const said = sshd.log().length
    const { command, pid } = stubborn()
    const failed = refusal(lease.exec(command, { timeoutMillis: 400 }), 'ERR_EXEC')
    const running = await until(pid)
    await failed
    await assertHungUp(running, said)
  })

  it('that is aborted is ERR_ABORTED with the reason and hung up', async () => {
    const said = sshd.log().length
    const { command, pid } = stubborn()
    const controller = new AbortController()
    const failed = refusal(lease.exec(command, { signal: controller.signal }), 'ERR_ABORTED')
    const running = await until(pid)
    controller.abort('enough')
    assert.equal((await failed).cause, 'enough')
    await assertHungUp(running, said)
  })

  it('ends with its lease', async () => {
    const said = sshd.log().length
    const { command, pid } = stubborn()
    await using other = await pool.acquire(sshd.target)
    const failed = refusal(other.exec(command), 'ERR_ABORTED')
    const running = await until(pid)
    other.release()
    await failed
    await assertHungUp(running, said)
    assert.equal(String((await lease.exec('echo still')).stdout), 'still\n')
  })

  it('whose connection is lost is ERR_LOST', async () => {
    await using relay = await startRelay(sshd)
    await using behind = await pool.acquire(relay.through(sshd.target))
    const { command, pid } = stubborn()
    const failed = refusal(behind.exec(command), 'ERR_LOST')
    const running = await until(pid)
    relay.reset()
    await failed
    process.kill(running)
  })

  it('is in no error and no list of what is held', async () => {
    const running = lease.exec('sleep 1 # hunter2', { timeoutMillis: 150 })
    await until(() => channels() === 1)
    assert.doesNotMatch(inspect([pool.resources(), pool.report()], { depth: null }), /hunter2/)
    const error = await refusal(running, 'ERR_EXEC')
    const refused = await refusal(lease.exec('yes hunter2', { maxOutputBytes: 10 }), 'ERR_EXEC')
    assert.doesNotMatch(inspect([error, refused], { depth: null }), /hunter2/)
  })

  it('after its lease is refused', async () => {
    const other = await pool.acquire(sshd.target)
    other.release()
    await refusal(other.exec('true'), 'ERR_ABORTED')
  })
})

describe('ssh2: a command that the server', () => {
  it('refuses to run is ERR_EXEC, and its channel is closed', async () => {
    let closed = 0
    await using host = await startHostile({
      serve: (connection, insides) => {
        connection.on('session', (accept: AcceptConnection<Session>) => void accept())
        const { CHANNEL_CLOSE } = insides._handlers
        insides._handlers.CHANNEL_CLOSE = (...args: never[]) => {
          closed += 1
          CHANNEL_CLOSE?.(...args)
        }
      },
    })
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    await refusal(lease.exec('true'), 'ERR_EXEC', 'channel')
    await until(() => closed === 1)
  })

  it('does not answer in time is ERR_CHANNEL_TIMEOUT, and is not run when the answer comes', async () => {
    const ran: string[] = []
    let answer = (): void => {}
    await using host = await startHostile({
      serve: (connection) =>
        connection.on('session', (accept: AcceptConnection<Session>) => {
          answer = () => void accept().on('exec', () => ran.push('exec'))
        }),
    })
    await using pool = startPool({ channelTimeoutMillis: 100 })
    await using lease = await pool.acquire(host.target)
    await refusal(lease.exec('reboot'), 'ERR_CHANNEL_TIMEOUT', 'channel')
    answer()
    await pool.probe(host.target)
    assert.deepEqual(ran, [])
  })
})
