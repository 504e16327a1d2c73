import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refusal, startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'

const TYPES = ['ed25519', 'ecdsa', 'rsa'] as const

describe('ssh2: a server with several host keys', () => {
  let directory: string
  let sshd: Sshd

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'host-keys-'))
    for (const type of TYPES) execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', '', '-f', join(directory, type)])
    sshd = await startSshd({ config: { HostKey: TYPES.map((type) => join(directory, type)) } })
  })

  after(async () => {
    await sshd.close()
    rmSync(directory, { recursive: true })
  })

  const keyLine = (type: string): string => readFileSync(join(directory, `${type}.pub`), 'utf8').trim()

  for (const type of TYPES) {
    it(`of which known_hosts has only the ${type} one is met by that one`, async () => {
      const known = join(directory, `known-${type}`)
      writeFileSync(known, `[127.0.0.1]:${sshd.port} ${keyLine(type)}\n`)
      await using pool = startPool()
      await using lease = await pool.acquire({ ...sshd.target, hostKey: { knownHosts: known } })
      assert.equal(lease.signal.aborted, false)
    })

    it(`of which only the ${type} one is pinned by its line is met by that one`, async () => {
      await using pool = startPool()
      await using lease = await pool.acquire({ ...sshd.target, hostKey: { pinned: keyLine(type) } })
      assert.equal(lease.signal.aborted, false)
    })
  }

  it('that is known by a type it does not have (any more) is not met by another: ERR_HOST_KEY', async () => {
    const bare = await startSshd()
    const known = join(directory, 'known-other')
    writeFileSync(known, `[127.0.0.1]:${bare.port} ${keyLine('ecdsa')}\n`)
    await using pool = startPool()
    await refusal(pool.acquire({ ...bare.target, hostKey: { knownHosts: known } }), 'ERR_HOST_KEY', 'hostkey')
    await bare.close()
  })
})
