import assert from 'node:assert/strict'
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostKeyPolicy, Target } from '../../../src/index.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

describe('ssh2: host keys of a real sshd', () => {
  let sshd: Sshd

  beforeEach(async () => {
    sshd = await startSshd()
  })

  afterEach(() => sshd.close())

  const under = (hostKey: HostKeyPolicy): Target => ({ ...sshd.target, hostKey })
  const file = (name: string): string => join(sshd.directory, name)
  const line = (): string => `[127.0.0.1]:${sshd.port} ${sshd.hostKeyLine}\n`

  for (const [what, policy] of [
    ['pinned by its fingerprint', async () => ({ pinned: sshd.fingerprint })],
    ['pinned by its line', async () => ({ pinned: sshd.hostKeyLine })],
    [
      'in a known_hosts file',
      async () => {
        await writeFile(file('known'), line())
        return { knownHosts: file('known') }
      },
    ],
    ['new, and accepted in memory', async () => 'accept-new' as const],
    ['new, and accepted in a file', async () => ({ acceptNew: file('accepted') })],
  ] as const satisfies ReadonlyArray<readonly [string, () => Promise<HostKeyPolicy>]>) {
    it(`${what}: up; changed: ERR_HOST_KEY with both fingerprints, barred; until the old one is back and it is reset`, async () => {
      await using pool = startPool()
      const target = under(await policy())
      const lease = await pool.acquire(target)
      lease.release()
      const old = { fingerprint: sshd.fingerprint, key: await readFile(file('host_key')) }
      await sshd.rotateHostKey()
      await pool.retire(target).catch(() => {})
      const error = await refusal(pool.acquire(target), 'ERR_HOST_KEY', 'hostkey').catch(async () => {
        const circuit = await refusal(pool.acquire(target), 'ERR_CIRCUIT_OPEN')
        return circuit.cause as Awaited<ReturnType<typeof refusal>>
      })
      assert.equal(error.code, 'ERR_HOST_KEY')
      assert.ok(error.message.includes(old.fingerprint), error.message)
      assert.ok(error.message.includes(sshd.fingerprint), error.message)
      assert.equal(pool.health(target).state, 'barred')
      assert.doesNotMatch(sshd.log().split('Server listening').at(-1) ?? '', /Accepted|publickey/)
      await writeFile(file('host_key'), old.key)
      await sshd.restart()
      await refusal(pool.acquire(target), 'ERR_CIRCUIT_OPEN')
      pool.reset(target)
      await using again = await pool.acquire(target)
      assert.equal(again.signal.aborted, false)
    })
  }

  it('not in a known_hosts file: ERR_HOST_KEY with the fingerprint it shows, before anything is offered to it', async () => {
    await using pool = startPool()
    await writeFile(file('empty'), '')
    const error = await refusal(pool.acquire(under({ knownHosts: file('empty') })), 'ERR_HOST_KEY', 'hostkey')
    assert.ok(error.message.includes(sshd.fingerprint), error.message)
    await until(() => /\[preauth\]/.test(sshd.log()), { what: 'sshd to say that nothing was offered' })
    assert.doesNotMatch(sshd.log(), /user root|publickey/)
  })

  it('accepted in a file: the file is 0600 and a strict reader knows the host', async () => {
    await using pool = startPool()
    await using _first = await pool.acquire(under({ acceptNew: file('accepted') }))
    assert.equal((await stat(file('accepted'))).mode & 0o777, 0o600)
    await using _second = await pool.acquire(under({ knownHosts: file('accepted') }))
  })

  it('known by an alias: whatever the address', async () => {
    await writeFile(file('known'), `i-0abc ${sshd.hostKeyLine}\n`)
    await using pool = startPool()
    await using _lease = await pool.acquire({ ...under({ knownHosts: file('known') }), hostKeyAlias: 'i-0abc' })
  })

  it('added to the file after a refusal: a reset lets it in', async () => {
    await writeFile(file('known'), '')
    await using pool = startPool()
    const target = under({ knownHosts: file('known') })
    await refusal(pool.acquire(target), 'ERR_HOST_KEY')
    await appendFile(file('known'), line())
    pool.reset(target)
    await using _lease = await pool.acquire(target)
  })
})
