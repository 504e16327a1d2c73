import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTrust } from '../../src/trust/host-keys.ts'
import { freshDirectory, type MadeKey, makeKey, targetFor, unaborted } from './given.ts'

const SSHD = '/usr/sbin/sshd'
const PORT = 2222

/**
 * Whether /usr/bin/ssh takes the host key of an sshd that is its ProxyCommand: it is refused either at the key, or later, at
 * authentication.
 */
function sshAccepts(directory: string, file: string, mode: string, alias?: string): Promise<boolean> {
  const server = `${SSHD} -i -f ${directory}/sshd_config`
  const options = [
    `ProxyCommand=${server}`,
    `StrictHostKeyChecking=${mode}`,
    `UserKnownHostsFile=${file}`,
    'GlobalKnownHostsFile=/dev/null',
    'PreferredAuthentications=none',
    'BatchMode=yes',
    ...(alias === undefined ? [] : [`HostKeyAlias=${alias}`]),
  ]
  const args = ['-F', 'none', '-p', String(PORT), ...options.flatMap((option) => ['-o', option]), 'gpu-7', 'true']
  return new Promise((resolve, reject) => {
    execFile('/usr/bin/ssh', args, { env: { LANG: 'C', PATH: process.env.PATH } }, (_error, _stdout, stderr) => {
      if (stderr.includes('Host key verification failed')) resolve(false)
      else if (stderr.includes('Permission denied')) resolve(true)
      else reject(new Error(`ssh said: ${stderr}`))
    })
  })
}

describe('known_hosts policies, against /usr/bin/ssh', () => {
  const directory = freshDirectory()
  let host: MadeKey
  let other: MadeKey
  let rsa: MadeKey
  before(() => {
    // A bare machine lacks what sshd insists on.
    if (!existsSync(SSHD)) throw new Error(`${SSHD} is missing: apt-get install openssh-server`)
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    host = makeKey()
    other = makeKey()
    rsa = makeKey('rsa')
  })
  beforeEach(() => {
    writeFileSync(join(directory(), 'host_key'), host.privateText)
    chmodSync(join(directory(), 'host_key'), 0o600)
    writeFileSync(join(directory(), 'sshd_config'), `HostKey ${directory()}/host_key\nPidFile none\nUsePAM no\n`)
  })

  const cases = [
    ['the host with its port', '[gpu-7]:2222 HOST', 'yes'],
    ['the bare host only', 'gpu-7 HOST', 'yes'],
    ['the bare host, with another key', 'gpu-7 OTHER', 'yes'],
    ['the bare host, with another key', 'gpu-7 OTHER', 'accept-new'],
    ['another key with the port, the right one without', '[gpu-7]:2222 OTHER\ngpu-7 HOST', 'yes'],
    ['a key of another type with the port, the right one without', '[gpu-7]:2222 RSA\ngpu-7 HOST', 'yes'],
    ['a key of another type', '[gpu-7]:2222 RSA', 'accept-new'],
    ['several keys', '[gpu-7]:2222 RSA\n[gpu-7]:2222 OTHER\n[gpu-7]:2222 HOST', 'yes'],
    ['another port', '[gpu-7]:2223 HOST', 'yes'],
    ['a pattern for the bare host', 'gpu-* HOST', 'yes'],
    ['a pattern that excludes the bare host and includes the other name', '!gpu-7,* HOST', 'yes'],
    ['a pattern that excludes both', '!gpu-7,![gpu-7]:2222,* HOST', 'yes'],
    ['the key revoked for all', '[gpu-7]:2222 HOST\n@revoked * HOST', 'yes'],
    ['the key revoked for all', '@revoked * HOST', 'accept-new'],
    ['the key revoked with the port, known without', 'gpu-7 HOST\n@revoked [gpu-7]:2222 HOST', 'yes'],
    ['the key revoked without the port, known with it', '[gpu-7]:2222 HOST\n@revoked gpu-7 HOST', 'yes'],
    ['another key revoked', '[gpu-7]:2222 HOST\n@revoked * OTHER', 'yes'],
    ['an authority only', '@cert-authority * HOST', 'yes'],
    ['an authority only', '@cert-authority * HOST', 'accept-new'],
    ['nothing', '', 'yes'],
    ['nothing', '', 'accept-new'],
    ['the alias', 'i-0abc HOST', 'yes', 'i-0abc'],
    ['the alias with the port', '[i-0abc]:2222 HOST', 'yes', 'i-0abc'],
    ['the host, not the alias', 'gpu-7,[gpu-7]:2222 HOST', 'yes', 'i-0abc'],
    ['an alias in upper case', 'i-0abc HOST', 'yes', 'I-0ABC'],
  ] as const

  for (const [what, text, mode, alias] of cases) {
    it(`agrees on ${what} (${mode}${alias === undefined ? '' : `, alias ${alias}`})`, async () => {
      const lines = text.replaceAll('HOST', host.line).replaceAll('OTHER', other.line).replaceAll('RSA', rsa.line)
      const [ours, theirs] = ['ours', 'theirs'].map((name) => join(directory(), name)) as [string, string]
      for (const file of [ours, theirs]) writeFileSync(file, lines)
      const policy =
        mode === 'yes' ? ({ kind: 'known-hosts', files: [ours] } as const) : ({ kind: 'accept-new', file: ours } as const)
      const trust = createTrust()
      const weAccept = trust
        .expect(targetFor(policy, 'gpu-7', PORT, alias), unaborted())
        .then((expectation) => expectation.verify(host.blob, unaborted()))
        .then(
          () => true,
          (error) => error.code !== 'ERR_HOST_KEY' && Promise.reject(error),
        )
      assert.equal(await weAccept, await sshAccepts(directory(), theirs, mode, alias))
    })
  }

  it('is stricter in one case: a key revoked for the bare host only is not accepted as new', async () => {
    const file = join(directory(), 'known_hosts')
    writeFileSync(file, `@revoked gpu-7 ${host.line}\n`)
    const expectation = await createTrust().expect(targetFor({ kind: 'accept-new', file }, 'gpu-7', PORT), unaborted())
    await assert.rejects(expectation.verify(host.blob, unaborted()), { code: 'ERR_HOST_KEY' })
    assert.equal(await sshAccepts(directory(), file, 'accept-new'), true)
  })
})
