import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program } from '../../owners/program.ts'
import { spawnFixture, typescript } from '../../support/child.ts'
import { startSshd } from '../../support/sshd.ts'

const TUNNELS = process.env.WARREN_LONG ? 50 : 6
const FIXTURE = fileURLToPath(new URL('fixtures/at-the-limits.ts', import.meta.url))
/** A uid with an entry in the password file, which ssh asks for, and with processes of nobody else. */
const NOBODY = 65_534

describe('openssh: with RLIMIT_NPROC and RLIMIT_NOFILE both reached (B70)', () => {
  it(`a dial is ERR_LOCAL_LIMIT, ${TUNNELS} tunnels go on and then close, and it recovers by itself`, async function () {
    this.timeout(20_000 + TUNNELS * 2_000)
    assert.equal(process.getuid?.(), 0, 'RLIMIT_NPROC of another user can be set by root only')
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'limits-')))
    chownSync(base, NOBODY, NOBODY)
    chmodSync(base, 0o700)
    await using sshd = await startSshd({ config: { MaxStartups: '200', MaxSessions: '200' } })
    const key = readFileSync(sshd.keyPath, 'utf8')
    const as = ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', 'prlimit', '--nofile=1024']
    const words = [
      process.execPath,
      ...typescript,
      FIXTURE,
      base,
      JSON.stringify({ ...sshd.target, identity: { key } }),
      String(TUNNELS),
    ]
    const program = new Program(spawnFixture('env', ['HOME=/nonexistent', ...as, ...words], ['pipe', 'pipe', 'pipe']))
    try {
      const { closeMillis, ...facts } = JSON.parse(await program.line(20_000 + TUNNELS * 1_000))
      const local = 'ERR_LOCAL_LIMIT'
      assert.deepEqual(facts, {
        ...{ atProcesses: local, provenAtProcesses: TUNNELS, atDescriptors: local, opened: TUNNELS },
        ...{ ledger: 0, children: 0, isForking: false },
      })
      assert.ok(closeMillis < 5_000)
      assert.deepEqual(JSON.parse(await program.line()), { failed: local })
      // By the same user, who may raise a soft limit: root may lack the capability to touch another's.
      const [, hard = ''] = /^Max processes +\S+ +(\S+)/m.exec(readFileSync(`/proc/${program.pid}/limits`, 'utf8')) ?? []
      const [setpriv = '', ...user] = as.slice(0, 6)
      execFileSync(setpriv, [...user, 'prlimit', '--pid', String(program.pid), `--nproc=${hard}:`])
      let last = JSON.parse(await program.line())
      while ('failed' in last) last = JSON.parse(await program.line())
      assert.deepEqual(last, { recovered: true, ledger: 0 })
      assert.equal(await program.exit(), 0)
      assert.deepEqual(readdirSync(base), [])
    } finally {
      await program.kill()
      rmSync(base, { recursive: true, force: true })
    }
  })
})
