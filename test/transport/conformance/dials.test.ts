import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Target, TunnelErrorCode } from '../../../src/index.ts'
import { makeKeyPair } from '../../../src/testing/keys.ts'
import { refusal } from '../../support/pool.ts'
import { startTarpit } from '../../support/tarpit.ts'
import { echo } from '../../support/tcp-server.ts'
import { until } from '../../support/until.ts'
import { onBoth, type World } from './world.ts'

onBoth('a dial that fails is told by the same code in the same phase', (world) => {
  const cases: ReadonlyArray<
    readonly [what: string, code: TunnelErrorCode, phase: string, target: (world: World) => Target | Promise<Target>]
  > = [
    ['nobody listens', 'ERR_REFUSED', 'connect', ({ sshd }) => ({ ...sshd.target, port: 1 })],
    ['there is no such name', 'ERR_DNS', 'dns', ({ sshd }) => ({ ...sshd.target, host: 'nowhere.invalid' })],
    [
      'the host key is another',
      'ERR_HOST_KEY',
      'hostkey',
      ({ sshd }) => ({ ...sshd.target, hostKey: { pinned: makeKeyPair().fingerprint } }),
    ],
    [
      'the host key is unknown',
      'ERR_HOST_KEY',
      'hostkey',
      ({ sshd }) => ({ ...sshd.target, hostKey: { knownHosts: '/dev/null' } }),
    ],
    ['the key is not let in', 'ERR_AUTH', 'auth', ({ sshd }) => ({ ...sshd.target, identity: { key: makeKeyPair().private } })],
    [
      'the key file is missing',
      'ERR_KEY_FORMAT',
      'auth',
      ({ sshd }) => ({ ...sshd.target, identity: { path: join(sshd.directory, 'missing') } }),
    ],
    ['the key is none', 'ERR_KEY_FORMAT', 'auth', ({ sshd }) => ({ ...sshd.target, identity: { key: 'none' } })],
    [
      'there is no agent',
      'ERR_AGENT',
      'auth',
      ({ sshd }) => ({ ...sshd.target, identity: { agent: join(sshd.directory, 'missing') } }),
    ],
    [
      'the server closes at once',
      'ERR_RESET',
      'banner',
      async (world) => {
        const { port } = await world.serve((socket) => socket.end())
        return { ...world.sshd.target, port }
      },
    ],
  ]

  for (const [what, code, phase, target] of cases) {
    it(`${what}: ${code}`, async () => {
      const pool = world.startPool()
      const error = await refusal(pool.acquire(await target(world)), code)
      assert.equal(error.phase, phase, error.stack)
      await pool.close()
    })
  }

  it('nothing is said: ERR_OPEN_TIMEOUT, in time', async () => {
    await using tarpit = await startTarpit()
    const pool = world.startPool({ openTimeoutMillis: 300 })
    await refusal(pool.acquire({ ...world.sshd.target, port: tarpit.port }), 'ERR_OPEN_TIMEOUT')
    await pool.close()
  })

  it('nobody waits for it any more: ERR_ABORTED, and nothing is left', async () => {
    await using tarpit = await startTarpit()
    const pool = world.startPool()
    const controller = new AbortController()
    const failed = refusal(
      pool.acquire({ ...world.sshd.target, port: tarpit.port }, { signal: controller.signal }),
      'ERR_ABORTED',
    )
    await until(() => pool.report().tunnels.length === 1)
    controller.abort()
    await failed
    await pool.close({ timeoutMillis: 0 })
    assert.deepEqual(pool.resources(), [])
  })
})

onBoth('a tunnel', (world) => {
  it('gives everything back when it is closed, in the middle of anything', async () => {
    const server = await world.serve(echo)
    const socket = await world.lease.connect({ port: server.port })
    socket.on('error', () => {})
    socket.write('x')
    const running = refusal(world.lease.exec('sleep 600'), 'ERR_POOL_CLOSED').catch(() => {})
    await world.lease.forward({ remote: { port: 0 }, to: { port: server.port } })
    await until(() => world.channels >= 2)
    await world.pool.close({ timeoutMillis: 0 })
    assert.deepEqual(world.pool.resources(), [])
    await running
  })

  it('is one login, whatever is done through it', async () => {
    const logins = () => world.sshd.log().match(/Accepted publickey/g)?.length ?? 0
    const before = logins()
    for (let count = 0; count < 4; count += 1) {
      await world.pool.use(world.sshd.target, async (lease) => {
        assert.equal((await lease.exec('true')).exitCode, 0)
        await world.pool.probe(world.sshd.target)
      })
    }
    assert.equal(logins(), before)
  })
})
