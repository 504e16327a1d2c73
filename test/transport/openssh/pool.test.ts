import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from '../../../src/index.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { startTarpit } from '../../support/tarpit.ts'
import { until } from '../../support/until.ts'

describe('openssh: in a pool', () => {
  let sshd: Sshd
  let bastion: Sshd
  let base: string

  before(async () => {
    ;[sshd, bastion] = await Promise.all([startSshd({ config: { MaxStartups: '100' } }), startSshd()])
    base = realpathSync(mkdtempSync(join(tmpdir(), 'in-a-pool-')))
  })
  after(async () => {
    await Promise.all([sshd.close(), bastion.close()])
    rmSync(base, { recursive: true, force: true })
  })

  const target = (more: Partial<Target> = {}): Target => ({ ...sshd.target, transport: 'openssh', ...more })
  /** Everything in a directory, however deep. */
  const all = (directory: string) => readdirSync(directory, { recursive: true }) as string[]

  it('leaves no file and no key in any of its ends (B21, B22)', async () => {
    const place = join(base, 'ends')
    mkdirSync(place, { mode: 0o700 })
    const key = readFileSync(sshd.keyPath, 'utf8')
    const secret = key.split('\n')[2] ?? assert.fail()
    const rounds = process.env.WARREN_LONG ? 40 : 2
    for (let round = 0; round < rounds; round += 1) {
      await using tarpit = await startTarpit()
      await using pool = startPool({ runtimeDirectory: place, openTimeoutMillis: 3_000 })
      const mute = pool
        .acquire(target({ port: tarpit.port, identity: { key } }), { timeoutMillis: 300 })
        .catch((error) => error.code)
      const denied = pool.acquire(target({ user: 'nobody', identity: { key } })).catch((error) => error.code)
      const killed = await pool.acquire(target({ identity: { key } }), { forwards: { web: { to: { port: 1 } } } })
      for (const name of all(place)) {
        const text = existsSync(join(place, name)) && name.endsWith('/f') ? readFileSync(join(place, name), 'utf8') : ''
        assert.ok(!text.includes(secret))
      }
      assert.deepEqual([await mute, await denied], ['ERR_ACQUIRE_TIMEOUT', 'ERR_AUTH'])
      sshd.killSessions()
      await until(() => killed.signal.aborted)
      killed.release()
      const ended = await pool.acquire(target({ identity: { key } }), { whenResting: 'wait' })
      ended.release()
      await pool.close({ timeoutMillis: 500 })
      assert.deepEqual(all(place), [], `round ${round}`)
    }
  })

  for (const length of process.env.WARREN_LONG ? Array.from({ length: 71 }, (_, index) => 60 + index) : [84, 85, 86, 120]) {
    it(`works in a place of ${length} bytes, or says before it starts anything what the limit is (B63)`, async () => {
      const name = `ä %h$(x)'"`
      const filler = length - Buffer.byteLength(join(base, name, '_'))
      const place = join(base, name, 'x'.repeat(filler + 1))
      assert.equal(Buffer.byteLength(place), length)
      mkdirSync(place, { recursive: true, mode: 0o700 })
      await using pool = startPool({ runtimeDirectory: place })
      const run = async () => {
        await using lease = await pool.acquire(target())
        return (await lease.exec('echo up')).stdout.toString()
      }
      const outcome = await run().catch((error) => error)
      // 107 for a socket, less the names of two directories and four bytes.
      const longest = 107 - '/warren-0-aaaaaa/aaaaaa/aaaa'.length
      if (length <= longest) assert.equal(outcome, 'up\n')
      else assert.match(`${outcome.code}: ${outcome.message}`, new RegExp(`^ERR_PATH_TOO_LONG: .*at most ${longest} bytes`))
      await pool.close()
      assert.deepEqual(all(place), [])
    })
  }

  it('survives the loss of its directory to a cleaner: the tunnel goes on, and what comes next has a new one (B24)', async () => {
    const place = join(base, 'cleaned')
    mkdirSync(place, { mode: 0o700 })
    await using pool = startPool({ runtimeDirectory: place })
    const lease = await pool.acquire(target())
    for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true })
    assert.equal((await lease.exec('echo on')).stdout.toString(), 'on\n')
    const other = await pool.acquire(target({ keepAliveCountMax: 9 }))
    assert.equal((await other.exec('echo new')).stdout.toString(), 'new\n')
    lease.release()
    other.release()
    await pool.close()
    assert.deepEqual(all(place), [])
  })

  it('goes through a jump of its own kind: one login there for two targets', async () => {
    await using pool = startPool({ transport: 'openssh' })
    const { host, port, user, identity, hostKey } = bastion.target
    const jumps = [{ host, port, user, identity, hostKey }]
    const [first, second] = await Promise.all([
      pool.acquire(target({ jumps })),
      pool.acquire(target({ jumps, keepAliveCountMax: 7 })),
    ])
    assert.equal((await first.exec('echo through')).stdout.toString(), 'through\n')
    assert.equal(bastion.log().match(/Accepted publickey/g)?.length, 1)
    first.release()
    second.release()
  })

  it('says of a host behind a jump that it refuses, and of a jump that it does', async () => {
    await using pool = startPool({ transport: 'openssh' })
    const { host, port, user, identity, hostKey } = bastion.target
    const behind = target({ port: 1, jumps: [{ host, port, user, identity, hostKey }] })
    const refused = await refusal(pool.acquire(behind), 'ERR_REFUSED', 'connect')
    assert.equal(refused.hop, undefined)
    const noJump = target({ jumps: [{ host, port: 1, user, identity, hostKey }] })
    const error = await pool.acquire(noJump).catch((reason) => reason)
    assert.match(`${error.hop}`, /:1$/)
  })

  it('remembers the key of a host that is new to it, and refuses another, the same as ssh2 (B59)', async () => {
    await using host = await startSshd()
    await using pool = startPool({ barredRetryMillis: 1 })
    for (const transport of ['openssh', 'ssh2'] as const) {
      const lease = await pool.acquire({ ...host.target, hostKey: 'accept-new', transport })
      lease.release()
    }
    const before = host.fingerprint
    await host.rotateHostKey()
    for (const transport of ['openssh', 'ssh2'] as const) {
      const changed: Target = { ...host.target, hostKey: 'accept-new', transport, keepAliveCountMax: 8 }
      const error = await refusal(pool.acquire(changed), 'ERR_HOST_KEY', 'hostkey')
      assert.ok(error.message.includes(before) && error.message.includes(host.fingerprint), error.message)
    }
  })
})
