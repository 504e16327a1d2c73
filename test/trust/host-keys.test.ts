import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ResolvedHostKeyPolicy } from '../../src/target.ts'
import { createTrust } from '../../src/trust/host-keys.ts'
import { freshDirectory, refused, someKeys, targetFor, unaborted } from './given.ts'

const { ed, other, p256, rsa } = someKeys()

const pinned = (...pins: string[]): ResolvedHostKeyPolicy => ({ kind: 'pinned', pins })
const acceptNew: ResolvedHostKeyPolicy = { kind: 'accept-new', file: undefined }
const anyKey: ResolvedHostKeyPolicy = { kind: 'insecure-accept-any' }
const expect = (policy: ResolvedHostKeyPolicy, host?: string) => createTrust().expect(targetFor(policy, host), unaborted())

describe('pinned host keys', () => {
  it('accepts the key of a fingerprint that ssh-keygen prints, whichever algorithm it comes by', async () => {
    for (const key of [ed, p256, rsa]) {
      const expectation = await expect(pinned(other.fingerprint, key.fingerprint))
      assert.equal(expectation.algorithms, undefined)
      await expectation.verify(key.blob, unaborted())
    }
  })

  it('accepts the keys of full lines, with a comment or without, and offers their algorithms only', async () => {
    const expectation = await expect(pinned(`${rsa.line} root@gpu-7`, ` ${ed.line}\n`))
    assert.deepEqual(expectation.algorithms, ['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256'])
    await expectation.verify(rsa.blob, unaborted())
    await expectation.verify(ed.blob, unaborted())
  })

  it('refuses another key with both fingerprints and the pin that would accept it', async () => {
    const expectation = await expect(pinned(ed.line))
    await assert.rejects(
      expectation.verify(other.blob, unaborted()),
      refused(
        'ERR_HOST_KEY',
        'gpu-7',
        `expected ${ed.fingerprint} (ssh-ed25519), shown ${other.fingerprint}`,
        `{ pinned: '${other.fingerprint}' }`,
      ),
    )
  })

  it('says of a fingerprint that it does not tell which of several keys the host shows', async () => {
    const expectation = await expect(pinned(rsa.fingerprint))
    await assert.rejects(
      expectation.verify(ed.blob, unaborted()),
      refused(
        'ERR_HOST_KEY',
        'the host showed its ssh-ed25519 key; pin that one or give the full key line',
        rsa.fingerprint,
        ed.fingerprint,
      ),
    )
  })

  for (const pin of [
    '',
    'SHA256:short',
    `MD5:${'00:'.repeat(15)}00`,
    'ssh-ed25519',
    'ssh-ed25519 AAAA',
    'gpu-7 ssh-ed25519 AAAA',
  ]) {
    it(`refuses the pin '${pin}' before anything is dialled`, () =>
      assert.rejects(expect(pinned(pin)), { name: 'TunnelError', code: 'ERR_INVALID_OPTION' }))
  }
})

describe('any host key', () => {
  it('accepts whatever is shown, also what is no key', async () => {
    const expectation = await expect(anyKey)
    assert.equal(expectation.algorithms, undefined)
    await expectation.verify(ed.blob, unaborted())
    await expectation.verify(Buffer.from('what is that?'), unaborted())
  })
})

describe('accept-new without a file', () => {
  it('remembers the first key of each name: from then on only its algorithms, and no other key', async () => {
    const trust = createTrust()
    const meet = (host: string, port?: number, alias?: string) =>
      trust.expect(targetFor(acceptNew, host, port, alias), unaborted())
    const first = await meet('gpu-7')
    assert.equal(first.algorithms, undefined)
    await first.verify(rsa.blob, unaborted())
    await first.verify(rsa.blob, unaborted())
    for (const name of ['gpu-7', 'GPU-7'] as const) {
      const again = await meet(name)
      assert.deepEqual(again.algorithms, ['rsa-sha2-512', 'rsa-sha2-256'])
      await again.verify(rsa.blob, unaborted())
      await assert.rejects(
        again.verify(ed.blob, unaborted()),
        refused('ERR_HOST_KEY', 'has changed', rsa.fingerprint, ed.fingerprint, 'accepted at first contact'),
      )
    }
    for (const [host, port, alias] of [['gpu-8'], ['gpu-7', 2222], ['gpu-7', 22, 'i-0abc']] as const) {
      assert.equal((await meet(host, port, alias)).algorithms, undefined)
    }
    assert.deepEqual((await meet('10.0.0.7', 2222, 'gpu-7')).algorithms, ['rsa-sha2-512', 'rsa-sha2-256'])
  })

  it('believes the first of two that meet a host at once, also when the other shows a key of another type', async () => {
    const trust = createTrust()
    const both = await Promise.all([1, 2].map(() => trust.expect(targetFor(acceptNew), unaborted())))
    await both[0]?.verify(ed.blob, unaborted())
    await assert.rejects(
      both[1]?.verify(p256.blob, unaborted()) ?? Promise.resolve(),
      refused('ERR_HOST_KEY', ed.fingerprint, p256.fingerprint),
    )
  })

  it('keeps the key it was shown, not the buffer, which is its giver’s', async () => {
    const trust = createTrust()
    const lent = Buffer.from(ed.blob)
    await (await trust.expect(targetFor(acceptNew), unaborted())).verify(lent, unaborted())
    lent.fill(0)
    await (await trust.expect(targetFor(acceptNew), unaborted())).verify(ed.blob, unaborted())
  })

  it('does not remember what is no key of a type it knows', async () => {
    const trust = createTrust()
    const field = (text: string) => Buffer.concat([Buffer.of(0, 0, 0, text.length), Buffer.from(text)])
    for (const shown of [
      Buffer.from('\u001b[2Jgarbage'),
      Buffer.concat([field('ssh-dss'), field('x')]),
      Buffer.concat([field('a b\nc'), field('x')]),
    ]) {
      const expectation = await trust.expect(targetFor(acceptNew), unaborted())
      await assert.rejects(expectation.verify(shown, unaborted()), refused('ERR_HOST_KEY', 'not a host key of a supported type'))
    }
    assert.equal((await trust.expect(targetFor(acceptNew), unaborted())).algorithms, undefined)
  })

  it('belongs to one Trust', async () => {
    await (await expect(acceptNew)).verify(ed.blob, unaborted())
    assert.equal((await expect(acceptNew)).algorithms, undefined)
  })
})

describe('signals', () => {
  const directory = freshDirectory()

  it('end every look-up and every verification with their reason', async () => {
    const path = join(directory(), 'known_hosts')
    writeFileSync(path, `gpu-7 ${ed.line}\n`)
    const reason = new Error('no longer wanted')
    const aborted = AbortSignal.abort(reason)
    const policies: ResolvedHostKeyPolicy[] = [
      { kind: 'known-hosts', files: [path] },
      pinned(ed.line),
      acceptNew,
      { kind: 'accept-new', file: path },
      anyKey,
    ]
    for (const policy of policies) {
      const trust = createTrust()
      const rejected = (error: unknown) => error === reason
      await assert.rejects(trust.expect(targetFor(policy), aborted), rejected)
      const expectation = await trust.expect(targetFor(policy), unaborted())
      await assert.rejects(expectation.verify(ed.blob, aborted), rejected)
    }
  })

  it('leave no listener behind', async () => {
    const path = join(directory(), 'known_hosts')
    writeFileSync(path, `gpu-7 ${ed.line}\n`)
    execFileSync('ssh-keygen', ['-q', '-H', '-f', path], { stdio: 'ignore' })
    const trust = createTrust()
    // The hooks fail a test that makes Node warn of more than ten listeners on one signal.
    const signal = unaborted()
    for (let i = 0; i < 20; i++) await trust.expect(targetFor({ kind: 'known-hosts', files: [path] }), signal)
  })
})
