import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusal } from '../../support/pool.ts'
import { until } from '../../support/until.ts'
import { onBoth, type World } from './world.ts'

const MIB = 1024 * 1024

/** A command that leaves its pid and then does nothing, neither reading nor writing. */
function stubborn({ sshd }: World): { command: string; pid: () => number } {
  const path = join(sshd.directory, `pid-${Math.random()}`)
  return {
    command: `echo $$ >${path}.new; mv ${path}.new ${path}; exec sleep 600`,
    pid: () => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0),
  }
}

/** The server has been asked to hang it up: it is gone, or sshd says that it delivers no signals to what root runs. */
async function assertHungUp({ sshd }: World, pid: number, said: number): Promise<void> {
  const isRefused = () => /session signalling requires privilege separation/.test(sshd.log().slice(said))
  await until(() => !existsSync(`/proc/${pid}`) || isRefused())
  if (existsSync(`/proc/${pid}`)) process.kill(pid)
}

onBoth('commands', (world) => {
  const exec = (...args: Parameters<typeof world.lease.exec>) => world.lease.exec(...args)

  it('give their output, error output, status, and leave nothing', async () => {
    const result = await exec('echo out; echo err >&2; exit 3')
    assert.deepEqual(
      { ...result, stdout: String(result.stdout), stderr: String(result.stderr) },
      { stdout: 'out\n', stderr: 'err\n', exitCode: 3, signal: null },
    )
    await until(() => world.channels === 0)
  })

  it('give the signal that ended them', async () => {
    const { exitCode, signal } = await exec('kill -TERM $$')
    assert.deepEqual([exitCode, signal], [null, 'SIGTERM'])
  })

  it('end when they end, and not when their output does', async () => {
    const { exitCode, stdout } = await exec('echo early; exec >&- 2>&-; sleep 0.2; exit 7')
    assert.deepEqual([String(stdout), exitCode], ['early\n', 7])
  })

  it('are given their input, and its end; need not read it', async () => {
    const much = Buffer.alloc(4 * MIB, 'x')
    assert.ok((await exec('cat', { input: much, maxOutputBytes: 4 * MIB })).stdout.equals(much))
    assert.equal((await exec('cat')).stdout.length, 0)
    assert.equal((await exec('exit 4', { input: Buffer.alloc(8 * MIB) })).exitCode, 4)
    await until(() => world.channels === 0)
  })

  it('lose no error output, however late and much of it comes', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => exec('head -c 100000 /dev/zero >&2; echo end >&2')))
    for (const { stderr, exitCode } of results) assert.deepEqual([stderr.length, exitCode], [100_004, 0])
  })

  for (const stream of ['stdout', 'stderr'] as const) {
    it(`that write too much to ${stream} are ERR_EXEC and ended`, async () => {
      const to = stream === 'stdout' ? '' : ' >&2'
      assert.equal((await exec(`head -c 1000 /dev/zero${to}`, { maxOutputBytes: 1_000 }))[stream].length, 1_000)
      const error = await refusal(exec(`exec cat /dev/zero${to}`, { maxOutputBytes: 1_000 }), 'ERR_EXEC')
      assert.match(error.message, new RegExp(`1000 bytes to ${stream}`))
      await until(() => world.channels === 0)
    })
  }

  it('that take too long are ERR_EXEC, those that are aborted ERR_ABORTED, and either is hung up', async () => {
    const said = world.sshd.log().length
    const [slow, unwanted] = [stubborn(world), stubborn(world)]
    const controller = new AbortController()
    const late = refusal(exec(slow.command, { timeoutMillis: 400 }), 'ERR_EXEC')
    const aborted = refusal(exec(unwanted.command, { signal: controller.signal }), 'ERR_ABORTED')
    const pids = [await until(slow.pid), await until(unwanted.pid)]
    controller.abort('enough')
    assert.equal((await aborted).cause, 'enough')
    await late
    for (const pid of pids) await assertHungUp(world, pid, said)
    await until(() => world.channels === 0)
  })

  it('whose connection is lost are ERR_LOST', async () => {
    const { relay, lease } = await world.behindRelay()
    const { command, pid } = stubborn(world)
    const failed = refusal(lease.exec(command), 'ERR_LOST')
    const running = await until(pid)
    relay.reset()
    await failed
    process.kill(running)
  })

  it('that the server does not start in time are ERR_CHANNEL_TIMEOUT', async () => {
    const { relay, lease } = await world.behindRelay({ channelTimeoutMillis: 150 })
    relay.freeze()
    await refusal(lease.exec('true'), 'ERR_CHANNEL_TIMEOUT', 'channel')
  })
})

onBoth(
  'a server that allows one session',
  (world) => {
    it('runs one command at a time, and refuses the second with its own reason', async () => {
      const { command, pid } = stubborn(world)
      const controller = new AbortController()
      const first = refusal(world.lease.exec(command, { signal: controller.signal }), 'ERR_ABORTED')
      const running = await until(pid)
      await refusal(world.lease.exec('true'), 'ERR_CHANNEL_REFUSED')
      controller.abort()
      await first
      process.kill(running)
      // It frees a session a moment after it has closed its channel.
      await until(() =>
        world.lease.exec('true').then(
          () => true,
          () => false,
        ),
      )
    })

    it('is probed without taking its session from a command', async () => {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          assert.equal((await world.pool.probe(world.sshd.target)).state, 'serving')
        }),
      )
      assert.equal((await world.lease.exec('true')).exitCode, 0)
    })
  },
  { config: { MaxSessions: '1' } },
)
