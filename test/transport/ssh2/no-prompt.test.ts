import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Target } from '../../../src/index.ts'
import { exited, spawnFixture, typescript } from '../../support/child.ts'
import { makeUserKey } from '../../support/identity-keys.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'

const PROGRAM = fileURLToPath(new URL('./fixtures/without-a-word.ts', import.meta.url))
const EXPECTED = ['ERR_AUTH', 'ERR_AUTH', 'ERR_KEY_FORMAT', 'ERR_HOST_KEY']

describe('ssh2: B58, a dial never asks anybody', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd({
      config: { PasswordAuthentication: 'yes', KbdInteractiveAuthentication: 'yes', PermitRootLogin: 'yes' },
    })
  })

  after(() => sshd.close())

  /** Stranger by key, by password, with a locked key, and at a host that nobody knows. */
  const targets = (): Target[] => [
    { ...sshd.target, identity: { key: makeUserKey('ed25519').private } },
    { ...sshd.target, identity: { password: 'guess' } },
    { ...sshd.target, identity: { key: makeUserKey('ed25519', 'locked').private } },
    { ...sshd.target, hostKey: { knownHosts: '/nonexistent' } },
  ]

  /** Runs the program; what it said, on its terminal if it has one. */
  async function said(command: string, args: readonly string[]): Promise<string> {
    const child = spawnFixture(command, args, ['pipe', 'pipe', 'pipe'])
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes) => {
        text += bytes
      })
    child.stdin?.end()
    await exited(child)
    return text
  }

  for (const where of ['with a terminal', 'without one'] as const) {
    it(`${where}: it fails within a second each and says nothing`, async () => {
      const answer = join(sshd.directory, `answer ${where}`)
      const words = [...typescript, PROGRAM, JSON.stringify(targets()), answer]
      const quoted = [process.execPath, ...words].map((word) => `'${word}'`).join(' ')
      const text =
        where === 'without one' ? await said(process.execPath, words) : await said('script', ['-qec', quoted, '/dev/null'])
      assert.equal(text, '')
      const outcomes = JSON.parse(readFileSync(answer, 'utf8')) as Array<{ code: string; millis: number }>
      assert.deepEqual(
        outcomes.map(({ code }) => code),
        EXPECTED,
      )
      // The first one loads ssh2; sshd itself delays what follows a wrong password.
      for (const { code, millis } of outcomes.slice(2)) assert.ok(millis < 1_000, `${code} took ${millis} ms`)
    })
  }
})
