import assert from 'node:assert/strict'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Target } from '../../../src/index.ts'
import { exited, spawnFixture, typescript } from '../../support/child.ts'
import { makeUserKey } from '../../support/identity-keys.ts'
import { startAgent } from '../../support/ssh-agent.ts'
import { startSshd } from '../../support/sshd.ts'

const PROGRAM = fileURLToPath(new URL('./fixtures/short-of-descriptors.ts', import.meta.url))

describe('ssh2: B70, without a descriptor left', () => {
  it('a dial is ERR_LOCAL_LIMIT wherever it needs one, bars nothing, and succeeds once there is one', async () => {
    await using sshd = await startSshd()
    const key = makeUserKey('ed25519')
    await appendFile(join(sshd.directory, 'authorized_keys'), `${key.public}\n`)
    await using agent = await startAgent([key.private])
    const targets: Target[] = [
      // ssh2 itself is loaded at the first dial.
      { ...sshd.target, identity: { key: key.private } },
      { ...sshd.target, identity: { key: key.private }, hostKeyAlias: 'by-tcp' },
      sshd.target,
      { ...sshd.target, identity: { agent: agent.socketPath } },
    ]
    const answer = join(sshd.directory, 'answer')
    const words = ['--nofile=128', process.execPath, ...typescript, PROGRAM, JSON.stringify(targets), answer]
    const child = spawnFixture('prlimit', words, ['ignore', 'inherit', 'inherit'])
    await exited(child)
    const short = ['ERR_LOCAL_LIMIT resting', 'up']
    assert.deepEqual(JSON.parse(await readFile(answer, 'utf8')), [short, short, short, short])
  })
})
