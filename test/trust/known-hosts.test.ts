import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ResolvedHostKeyPolicy } from '../../src/target.ts'
import { createTrust } from '../../src/trust/host-keys.ts'
import { freshDirectory, refused, someKeys, targetFor, unaborted } from './given.ts'

describe('strict known_hosts', () => {
  const { ed, other, p256, rsa } = someKeys()
  const expect = (policy: ResolvedHostKeyPolicy) => createTrust().expect(targetFor(policy), unaborted())
  const directory = freshDirectory()
  const write = (text: string, name = 'known_hosts') => {
    const path = join(directory(), name)
    writeFileSync(path, text)
    return path
  }
  const knownHosts = (...files: string[]): ResolvedHostKeyPolicy => ({ kind: 'known-hosts', files })

  it('offers the algorithms of all keys known, over all files, best first, and accepts each of the keys', async () => {
    const files = [
      write(`gpu-7 ${rsa.line}\ngpu-8 ${other.line}\n`),
      join(directory(), 'missing'),
      write(`gpu-* ${p256.line}\n@revoked * ${other.line}`, 'system'),
    ]
    const expectation = await expect(knownHosts(...files))
    assert.deepEqual(expectation.algorithms, ['ecdsa-sha2-nistp256', 'rsa-sha2-512', 'rsa-sha2-256'])
    await expectation.verify(rsa.blob, unaborted())
    await expectation.verify(p256.blob, unaborted())
  })

  it('refuses a host of which nothing is known with the fingerprint it shows, the files, and what to do', async () => {
    const file = write(`other ${ed.line}\n`)
    const expectation = await expect(knownHosts(file, '/nowhere/known_hosts'))
    assert.equal(expectation.algorithms, undefined)
    await assert.rejects(
      expectation.verify(ed.blob, unaborted()),
      refused(
        'ERR_HOST_KEY',
        'not known in',
        file,
        '/nowhere/known_hosts',
        ed.fingerprint,
        `add the line \`gpu-7 ${ed.line}\``,
        'pinned',
      ),
    )
  })

  it('refuses a changed key with both fingerprints, the line it contradicts and one that would accept it', async () => {
    const file = write(`# comment\n\ngpu-7 ${ed.line}\ngpu-7 ${rsa.line}\n`)
    const expectation = await expect(knownHosts(file))
    await assert.rejects(
      expectation.verify(other.blob, unaborted()),
      refused(
        'ERR_HOST_KEY',
        'has changed',
        `${ed.fingerprint} (ssh-ed25519, ${file}:3) or ${rsa.fingerprint} (ssh-rsa, ${file}:4)`,
        `shown ${other.fingerprint} (ssh-ed25519)`,
        `add the line \`gpu-7 ${other.line}\` to ${file}`,
        `{ pinned: '${other.fingerprint}' }`,
      ),
    )
  })

  it('is told the truth about what would help: the line it shows makes the next look-up accept the key', async () => {
    const file = write(`gpu-7 ${ed.line}\n`)
    const error = await (await expect(knownHosts(file))).verify(rsa.blob, unaborted()).catch((error: Error) => error)
    const line = /`(gpu-7 [^`]+)`/.exec(error?.message ?? '')?.[1]
    write(`${line}\n`)
    await (await expect(knownHosts(file))).verify(rsa.blob, unaborted())
  })

  it('refuses a revoked key in whatever file and order, and whatever else lists it', async () => {
    for (const text of [`@revoked gpu-* ${ed.line}\n`, `gpu-7 ${ed.line}\n@revoked * ${ed.line}\n`]) {
      const files = [write(`gpu-7 ${ed.line}\ngpu-7 ${rsa.line}\n`), write(text, 'system')]
      const expectation = await expect(knownHosts(...files))
      assert.deepEqual(expectation.algorithms, ['rsa-sha2-512', 'rsa-sha2-256'])
      await expectation.verify(rsa.blob, unaborted())
      await assert.rejects(
        expectation.verify(ed.blob, unaborted()),
        refused('ERR_HOST_KEY', 'is revoked', `${files[1]}:`, ed.fingerprint),
      )
    }
  })

  it('refuses before the dial when every key known is revoked', async () => {
    const file = write(`gpu-7 ${ed.line}\n@revoked gpu-7 ${ed.line}\n`)
    await assert.rejects(
      expect(knownHosts(file)),
      refused('ERR_HOST_KEY', 'every host key known for gpu-7 is revoked', `${file}:2`),
    )
  })

  it('finds revoked keys under hashed names', async () => {
    const file = write(`gpu-7 ${ed.line}\ngpu-7 ${other.line}\n`)
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
    const [first = '', second = ''] = readFileSync(file, 'utf8').split('\n')
    write(`${first}\n@revoked ${second}\n`)
    assert.match(execFileSync('ssh-keygen', ['-F', 'gpu-7', '-f', file], { encoding: 'utf8' }), /found: line 2 REVOKED/)
    const expectation = await expect(knownHosts(file))
    await expectation.verify(ed.blob, unaborted())
    await assert.rejects(expectation.verify(other.blob, unaborted()), refused('ERR_HOST_KEY', 'is revoked', `${file}:2`))
  })

  it('says when a certificate authority is all there is', async () => {
    const file = write(`@cert-authority * ${ed.line}\n`)
    const onlyAuthority = await expect(knownHosts(file))
    await assert.rejects(
      onlyAuthority.verify(ed.blob, unaborted()),
      refused('ERR_HOST_KEY', `${file}:1 names a certificate authority`, 'not supported'),
    )
    write(`@cert-authority * ${ed.line}\ngpu-7 ${other.line}\n`)
    const expectation = await expect(knownHosts(file))
    await assert.rejects(expectation.verify(ed.blob, unaborted()), refused('ERR_HOST_KEY', 'has changed'))
  })

  it('never offers SHA-1: says so when only a key of an unsupported type is known', async () => {
    const field = (text: string) => Buffer.concat([Buffer.of(0, 0, 0, text.length), Buffer.from(text)])
    const dss = Buffer.concat([field('ssh-dss'), field('p'), field('q'), field('g'), field('y')]).toString('base64')
    await assert.rejects(
      expect(knownHosts(write(`gpu-7 ssh-dss ${dss}\n`))),
      refused('ERR_HOST_KEY', 'not supported', 'ssh-dss', 'ssh-ed25519'),
    )
  })

  it('bounds what a host makes it say', async () => {
    const expectation = await expect(knownHosts(write(`gpu-7 ${ed.line}\n`)))
    const field = (bytes: Buffer) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return Buffer.concat([length, bytes])
    }
    const huge = Buffer.concat([field(Buffer.from('ssh-rsa')), field(Buffer.alloc(100_000, 1)), field(Buffer.alloc(100_000, 1))])
    for (const shown of [huge, Buffer.from('\u001b[2J\r\nHELLO'), Buffer.alloc(0)]) {
      await assert.rejects(expectation.verify(shown, unaborted()), refused('ERR_HOST_KEY', 'has changed', ed.fingerprint))
    }
  })

  it('bounds how many keys it lists', async () => {
    const file = write(Array.from({ length: 50 }, () => `gpu-7 ${ed.line}\n`).join(''))
    await assert.rejects((await expect(knownHosts(file))).verify(other.blob, unaborted()), refused('ERR_HOST_KEY', 'or 46 more'))
  })
})
