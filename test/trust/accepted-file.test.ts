import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type promises from 'node:fs/promises'
import { join } from 'node:path'
import { createTrust } from '../../src/trust/host-keys.ts'
import { acceptingFile } from './accepting.ts'
import { refused, replacing, someKeys, targetFor, unaborted } from './given.ts'

type Open = typeof promises.open

describe('accept-new with a file', () => {
  const { directory, file, lock, lines, expect, meet, left } = acceptingFile()
  const { ed, other, rsa } = someKeys()

  it('makes the file, 0600 whatever the umask, and writes one line for each host, once', async () => {
    const umask = process.umask(0)
    try {
      await meet(createTrust(), 'gpu-7', ed)
    } finally {
      process.umask(umask)
    }
    assert.equal(statSync(file()).mode & 0o777, 0o600)
    const trust = createTrust()
    await meet(trust, 'gpu-7', ed)
    const onPort = await expect(trust, 'gpu-7', 2222)
    assert.equal(onPort.algorithms, undefined)
    await onPort.verify(rsa.blob, unaborted())
    await onPort.verify(rsa.blob, unaborted())
    assert.deepEqual(lines(), [`gpu-7 ${ed.line}`, `[gpu-7]:2222 ${rsa.line}`, ''])
    assert.deepEqual(left(), ['known_hosts'])
  })

  it('knows in a later Trust what an earlier one accepted: its algorithms, and no other key', async () => {
    await meet(createTrust(), 'gpu-7', rsa)
    const again = await expect(createTrust(), 'gpu-7')
    assert.deepEqual(again.algorithms, ['rsa-sha2-512', 'rsa-sha2-256'])
    await again.verify(rsa.blob, unaborted())
    await assert.rejects(
      again.verify(ed.blob, unaborted()),
      refused('ERR_HOST_KEY', 'has changed', rsa.fingerprint, ed.fingerprint, `${file()}:1`),
    )
    assert.deepEqual(lines(), [`gpu-7 ${rsa.line}`, ''])
  })

  it('accepts any of several keys that the file lists for a host, and refuses a revoked one', async () => {
    writeFileSync(file(), `gpu-7 ${rsa.line}\ngpu-* ${ed.line}\n@revoked * ${other.line}\n`)
    const trust = createTrust()
    const expectation = await expect(trust, 'gpu-7')
    assert.deepEqual(expectation.algorithms, ['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256'])
    await expectation.verify(rsa.blob, unaborted())
    await expectation.verify(ed.blob, unaborted())
    await assert.rejects(meet(trust, 'new', other), refused('ERR_HOST_KEY', 'is revoked', `${file()}:3`))
    assert.equal(lines().length, 4)
  })

  it('leaves what is in the file as it is, its mode too, and ends a line that had no end', async () => {
    const text = `# mine\r\n\tgpu-8 ${ed.line} comment`
    writeFileSync(file(), text)
    chmodSync(file(), 0o644)
    await meet(createTrust(), 'gpu-7', ed)
    assert.equal(readFileSync(file(), 'utf8'), `${text}\ngpu-7 ${ed.line}\n`)
    assert.equal(statSync(file()).mode & 0o777, 0o644)
  })

  it('writes through a symbolic link', async () => {
    symlinkSync(join(directory(), 'real'), file())
    await meet(createTrust(), 'gpu-7', ed)
    assert.equal(readFileSync(join(directory(), 'real'), 'utf8'), `gpu-7 ${ed.line}\n`)
  })

  it('says why it cannot write, and leaves nothing behind', async () => {
    const trust = createTrust()
    const target = (path: string) => targetFor({ kind: 'accept-new', file: path }, 'gpu-7')
    const nowhere = join(directory(), 'no', 'such', 'known_hosts')
    const expectation = await trust.expect(target(nowhere), unaborted())
    await assert.rejects(
      expectation.verify(ed.blob, unaborted()),
      refused('ERR_HOST_KEY', 'cannot add a host key', nowhere, 'ENOENT'),
    )
    mkdirSync(lock())
    await assert.rejects(meet(trust, 'gpu-7', ed), refused('ERR_HOST_KEY', 'cannot add a host key', 'EISDIR'))
    rmdirSync(lock())
    await meet(trust, 'gpu-7', ed)
    assert.deepEqual(left(), ['known_hosts'])
  })

  it('removes the lock when descriptors run out or the disk is full, and calls it a local limit', async () => {
    for (const code of ['EMFILE', 'ENOSPC']) {
      const failing =
        (open: Open) =>
        async (...args: Parameters<Open>) => {
          if (args[1] === 'a+') throw Object.assign(new Error(`${code}: no`), { code })
          return open(...args)
        }
      await replacing('open', failing, () => assert.rejects(meet(createTrust(), 'gpu-7', ed), refused('ERR_LOCAL_LIMIT', code)))
      assert.deepEqual(left(), [])
    }
  })

  it('writes no line for a name that would mean other hosts, too', async () => {
    for (const alias of ['*', 'a,b', '!a', '@revoked', '|1|x', '#a', 'a b', 'a\nb ssh-ed25519 AAAA']) {
      const expectation = await createTrust().expect(
        targetFor({ kind: 'accept-new', file: file() }, 'gpu-7', 22, alias),
        unaborted(),
      )
      await assert.rejects(expectation.verify(ed.blob, unaborted()), refused('ERR_HOST_KEY', 'no line can be written'))
    }
    assert.deepEqual(left(), [])
  })
})
