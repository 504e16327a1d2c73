import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { resolveIdentities } from '../../src/target/identity.ts'
import { resolveStaticIdentity } from '../../src/target/static-identity.ts'
import type { ResolvedIdentity } from '../../src/target.ts'
import { ED25519 } from './keys.ts'

const identities = (given: unknown) => resolveIdentities(given, 'identity')
const { signal } = new AbortController()

/** With each secret in the open, for comparison. */
const revealed = (identity: ResolvedIdentity | undefined) =>
  Object.fromEntries(Object.entries(identity ?? {}).map(([name, value]) => [name, value?.reveal?.() ?? value]))

describe('resolveIdentities', () => {
  for (const [given, expected] of [
    ['ambient', { kind: 'ambient' }],
    [{ path: '/k' }, { kind: 'path', path: '/k', passphrase: undefined, certificate: undefined }],
    [
      { path: '~/k', passphrase: 'open' },
      { kind: 'path', path: `${homedir()}/k`, passphrase: 'open', certificate: undefined },
    ],
    [{ path: 'k' }, { kind: 'path', path: resolve('k'), passphrase: undefined, certificate: undefined }],
    [
      { key: 'content', passphrase: undefined },
      { kind: 'key', key: 'content', passphrase: undefined, certificate: undefined },
    ],
    [{ agent: true }, { kind: 'agent', socketPath: undefined, publicKeys: undefined }],
    [
      { agent: '/a', publicKeys: [`${ED25519} me`] },
      { kind: 'agent', socketPath: '/a', publicKeys: [ED25519] },
    ],
    [{ password: 'pass' }, { kind: 'password', password: 'pass' }],
  ] as const) {
    it(`completes ${JSON.stringify(given).slice(0, 60)}`, () => {
      const [identity, ...more] = identities(given)
      assert.deepEqual(revealed(identity), expected)
      assert.deepEqual(more, [])
      assert.ok(Object.isFrozen(identity))
    })
  }

  it('keeps several in their order', () => {
    const kinds = identities([{ password: 'p' }, { id: 'vault', load: async () => ({ password: 'q' }) }, { path: '/k' }]).map(
      ({ kind }) => kind,
    )
    assert.deepEqual(kinds, ['password', 'load', 'path'])
  })

  it('copies the bytes of a key', () => {
    const key = Buffer.from('content')
    const [identity] = identities({ key })
    key.fill(0)
    assert.equal(Buffer.from(revealed(identity).key).toString(), 'content')
  })

  for (const [given, message] of [
    [
      undefined,
      /^`identity` is required, so that nothing is offered by accident: 'ambient' .*{ path }, { key }, { agent }, { password } and { id, load }/,
    ],
    [null, /^Expected `identity` to be 'ambient' .* \(null\)$/],
    ['s3cret', /^Expected `identity` to be 'ambient' .* not shown \(string\)$/],
    [[], /^Expected `identity` to be 'ambient'/],
    [['ambient'], /^Expected `identity\[0\]` to be exactly one of/],
    [{}, /^Expected `identity` to be exactly one of { path }, { key }, { agent } and { password }/],
    [{ path: '/k', password: 's3cret' }, /^Expected `identity` to be exactly one of/],
    [{ pasword: 's3cret' }, /^unknown option `identity\.pasword`; did you mean `password`\?/],
    [[{ path: '/k', passPhrase: 's3cret' }], /^unknown option `identity\[0\]\.passPhrase`; did you mean `passphrase`\?/],
    [{ password: 's3cret', passphrase: 's3cret' }, /^unknown option `identity\.passphrase`/],
    [{ path: '' }, /^Expected `identity\.path` to be a path without NUL and newline, got a value that is not shown/],
    [{ path: 's3cret\n' }, /^Expected `identity\.path`/],
    [{ path: 's3cret\0' }, /^Expected `identity\.path`/],
    [{ path: '/k', passphrase: 53 }, /^Expected `identity\.passphrase` to be a non-empty string, .* \(number\)$/],
    [{ key: '' }, /^Expected `identity\.key` to be a non-empty string or Uint8Array/],
    [{ key: new Uint8Array() }, /^Expected `identity\.key`/],
    [{ key: ['s3cret'] }, /^Expected `identity\.key`/],
    [{ password: '' }, /^Expected `identity\.password` to be a non-empty string/],
    [{ password: { value: 's3cret' } }, /^Expected `identity\.password`/],
    [{ agent: false }, /^Expected `identity\.agent` to be true or the path of a socket/],
    [{ agent: true, publicKeys: [] }, /^Expected `identity\.publicKeys` to be a non-empty array/],
    [
      { agent: true, publicKeys: ['-----BEGIN PRIVATE KEY-----s3cret'] },
      /^Expected `identity\.publicKeys\[0\]` to be a public key such as/,
    ],
    [{ load: async () => ({ password: 's3cret' }) }, /^Expected `identity\.id` to be a name of 1 to 200 printable characters/],
    [{ id: '', load() {} }, /^Expected `identity\.id`/],
    [{ id: 'a\nb', load() {} }, /^Expected `identity\.id`/],
    [{ id: 'a', load: 's3cret' }, /^Expected `identity\.load` to be a function that returns an identity, .* \(string\)$/],
    [{ id: 'a', load() {}, password: 's3cret' }, /^unknown option `identity\.password`/],
    [{ id: 'a' }, /^Expected `identity\.load` to be a function/],
  ] as const) {
    it(`refuses ${JSON.stringify(given)?.slice(0, 60)} without showing it`, () =>
      assert.throws(
        () => identities(given),
        (error: Error & { code: string }) => {
          assert.equal(error.code, 'ERR_INVALID_OPTION')
          assert.match(error.message, message)
          assert.doesNotMatch(error.message, /s3cret/)
          return true
        },
      ))
  }

  it('checks a certificate, and keeps it for a transport that can use it', () => {
    assert.throws(() => identities({ path: '/k', certificate: 5 }), { code: 'ERR_INVALID_OPTION' })
    assert.deepEqual(revealed(resolveStaticIdentity({ path: '/k', certificate: 'c' }, 'x')).certificate, resolve('c'))
  })
})

describe('a loader', () => {
  const loader = (load: unknown) => {
    const [identity] = identities({ id: 'vault', load })
    assert.ok(identity?.kind === 'load')
    return identity
  }

  it('is asked with the signal, as a method of what was given, and its answer is checked and completed', async () => {
    const seen: AbortSignal[] = []
    class Vault {
      readonly id = 'vault'
      readonly #password = 'from the vault'
      async load(given: AbortSignal) {
        seen.push(given)
        return { password: this.#password }
      }
    }
    const [identity] = identities(new Vault())
    assert.ok(identity?.kind === 'load')
    const loaded = await identity.load(signal)
    assert.deepEqual(seen, [signal])
    assert.deepEqual(revealed(loaded), { kind: 'password', password: 'from the vault' })
  })

  for (const [what, answer, message] of [
    ['nothing', undefined, /^Expected `identity\.load\(\)` to be exactly one of/],
    ['a further loader', { id: 'x', load: async () => ({ password: 's3cret' }) }, /^unknown option `identity\.load\(\)\.id`/],
    ['the ambient', 'ambient', /^Expected `identity\.load\(\)`/],
    ['a wrong password', { password: 5 }, /^Expected `identity\.load\(\)\.password`/],
    ['a misspelt one', { pasword: 's3cret' }, /^unknown option `identity\.load\(\)\.pasword`; did you mean `password`\?/],
  ] as const) {
    it(`that answers with ${what} is refused then`, async () =>
      assert.rejects(loader(async () => answer).load(signal), (error: Error & { code: string }) => {
        assert.equal(error.code, 'ERR_INVALID_OPTION')
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /s3cret/)
        return true
      }))
  }

  it('may answer with a certificate, for a transport that can use it', async () =>
    assert.equal(revealed(await loader(async () => ({ path: '/k', certificate: '/c' })).load(signal)).certificate, '/c'))

  it('that throws or rejects does so by a rejection with its own error', async () => {
    const error = new Error('vault is sealed')
    const isIt = (thrown: unknown) => thrown === error
    await assert.rejects(loader(async () => Promise.reject(error)).load(signal), isIt)
    await assert.rejects(
      loader(() => {
        throw error
      }).load(signal),
      isIt,
    )
  })
})
