import assert from 'node:assert/strict'
import { algorithmsFor, fingerprint, keyText, readKey, readKeyText } from '../../src/trust/key.ts'
import { type KeyType, makeKey } from './given.ts'

const ALGORITHMS: Record<KeyType, readonly string[]> = {
  ed25519: ['ssh-ed25519'],
  p256: ['ecdsa-sha2-nistp256'],
  p384: ['ecdsa-sha2-nistp384'],
  p521: ['ecdsa-sha2-nistp521'],
  rsa: ['rsa-sha2-512', 'rsa-sha2-256'],
}

describe('host keys', () => {
  for (const [type, algorithms] of Object.entries(ALGORITHMS) as Array<[KeyType, readonly string[]]>) {
    it(`reads an ${type} key of ssh-keygen, and prints the same line and fingerprint`, () => {
      const made = makeKey(type)
      const key = readKey(made.blob)
      assert.ok(key)
      assert.equal(keyText(key), made.line)
      assert.equal(fingerprint(key.blob), made.fingerprint)
      assert.deepEqual(algorithmsFor([key]), algorithms)
    })
  }

  it('offers the algorithms of several keys, best first, whatever their order', () => {
    assert.deepEqual(algorithmsFor([makeKey('rsa'), makeKey('p256'), makeKey('ed25519'), makeKey('rsa')]), [
      'ssh-ed25519',
      'ecdsa-sha2-nistp256',
      'rsa-sha2-512',
      'rsa-sha2-256',
    ])
  })

  it('reads nothing that is not exactly one key', () => {
    const { blob, line } = makeKey()
    const [type = '', base64 = ''] = line.split(' ')
    const manyFields = Buffer.alloc(4 * 100_000)
    for (const bytes of [
      Buffer.alloc(0),
      blob.subarray(0, -1),
      blob.subarray(0, 4 + 11),
      Buffer.concat([blob, Buffer.of(0)]),
      Buffer.concat([blob, Buffer.of(0, 0, 0, 0)]),
      Buffer.concat([Buffer.of(0xff, 0xff, 0xff, 0xff), blob]),
      Buffer.concat([Buffer.of(0, 0, 0, 8), Buffer.from('a\nb c d '), blob]),
      manyFields,
    ]) {
      assert.equal(readKey(bytes), undefined)
    }
    assert.equal(readKeyText('ssh-rsa', base64), undefined)
    assert.equal(readKeyText(type, `${base64}*`), undefined)
    assert.equal(readKeyText(type, base64.slice(0, -4)), undefined)
  })
})
