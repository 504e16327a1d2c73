import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program } from '../../owners/program.ts'
import { exited, spawnFixture, typescript } from '../../support/child.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'

const FIXTURE = fileURLToPath(new URL('fixtures/dial.ts', import.meta.url))

/** What people have in their files, and what nobody should. */
const hostile = (canary: string) => `
Match exec "touch ${canary}"
  Compression yes
Host *
  ControlMaster auto
  ControlPersist 10m
  ControlPath ${canary}-control
  LocalForward 127.0.0.1:1 127.0.0.1:1
  RemoteForward 1 127.0.0.1:1
  ProxyJump nowhere.invalid
  RequestTTY force
  RemoteCommand touch ${canary}
  PermitLocalCommand yes
  LocalCommand touch ${canary}
  KnownHostsCommand /usr/bin/touch ${canary}
  LogLevel QUIET
  StrictHostKeyChecking yes
  UserKnownHostsFile /dev/null
  IdentitiesOnly yes
  Ciphers 3des-cbc
  User nobody
  Port 1
`

describe("openssh: whatever the user's and the system's config say (B87)", () => {
  let sshd: Sshd
  let base: string

  before(async () => {
    sshd = await startSshd()
    base = realpathSync(mkdtempSync(join(tmpdir(), 'isolation-')))
    const canary = join(base, 'canary')
    mkdirSync(join(base, 'home/.ssh'), { recursive: true, mode: 0o700 })
    mkdirSync(join(base, 'etc/ssh_config.d'), { recursive: true })
    mkdirSync(join(base, 'run'), { mode: 0o700 })
    writeFileSync(join(base, 'home/.ssh/config'), hostile(canary), { mode: 0o600 })
    writeFileSync(join(base, 'etc/ssh_config'), hostile(canary))
  })
  after(async () => {
    await sshd.close()
    rmSync(base, { recursive: true, force: true })
  })

  /** Runs a program where these files are those of the user and of the system. */
  const there = (words: readonly string[]) => {
    const mount = 'mount --bind "$1/home" "$2" && mount --bind "$1/etc" /etc/ssh && shift 2 && exec "$@"'
    const args = ['-m', '/bin/sh', '-c', mount, 'sh', base, userInfo().homedir, ...words]
    return spawnFixture('unshare', args, ['pipe', 'pipe', 'pipe'])
  }
  const canary = () => existsSync(join(base, 'canary'))

  it('they would bite: ssh by itself does what they say', async () => {
    const child = there(['ssh', '-G', '127.0.0.1'])
    child.stdout?.resume()
    child.stderr?.resume()
    await exited(child)
    assert.ok(canary())
    rmSync(join(base, 'canary'))
  })

  for (const [what, more] of [
    ['logs in', {}],
    ['says why it cannot', { user: 'nobody' }],
  ] as const) {
    it(`a dial ${what}, the same as without them; nothing of theirs runs`, async () => {
      const words = [process.execPath, ...typescript, FIXTURE, JSON.stringify({ ...sshd.target, ...more }), join(base, 'run')]
      const outcomes = [there(words), spawnFixture(words[0] ?? '', words.slice(1), ['pipe', 'pipe', 'pipe'])].map(
        async (child) => {
          const program = new Program(child)
          const outcome = await program.line(15_000)
          await program.kill()
          return outcome
        },
      )
      const [inside, outside] = await Promise.all(outcomes)
      assert.equal(inside, outside)
      assert.match(outside ?? '', 'user' in more ? /^ERR_AUTH: / : /^up target$/)
      assert.equal(canary(), false)
    })
  }
})
