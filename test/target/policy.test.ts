import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { resolvePolicy } from '../../src/target/policy.ts'
import { ECDSA, ED25519, FINGERPRINT } from './keys.ts'

const policy = (given: unknown) => resolvePolicy(given, 'hostKey')

describe('resolvePolicy', () => {
  for (const [given, expected] of [
    [undefined, { kind: 'known-hosts', files: [`${homedir()}/.ssh/known_hosts`, '/etc/ssh/ssh_known_hosts'] }],
    [{ knownHosts: '~/hosts' }, { kind: 'known-hosts', files: [`${homedir()}/hosts`] }],
    [{ knownHosts: ['/a', 'b'] }, { kind: 'known-hosts', files: ['/a', resolve('b')] }],
    [{ pinned: FINGERPRINT }, { kind: 'pinned', pins: [FINGERPRINT] }],
    [{ pinned: [`${ED25519} comment`, ECDSA, ED25519] }, { kind: 'pinned', pins: [ED25519, ECDSA] }],
    ['accept-new', { kind: 'accept-new', file: undefined }],
    [{ acceptNew: 'hosts' }, { kind: 'accept-new', file: resolve('hosts') }],
    ['insecure-accept-any', { kind: 'insecure-accept-any' }],
    [
      { knownHosts: '/a', pinned: undefined },
      { kind: 'known-hosts', files: ['/a'] },
    ],
  ] as const) {
    it(`completes ${JSON.stringify(given)?.slice(0, 60)}`, () => {
      const resolved = policy(given)
      assert.deepEqual(resolved, expected)
      assert.ok(Object.isFrozen(resolved))
    })
  }

  for (const [given, message] of [
    [
      'strict',
      /`hostKey` to be { knownHosts }, { pinned }, { acceptNew }, 'accept-new' or 'insecure-accept-any', got `"strict"`/,
    ],
    [null, /got `null`/],
    [{}, /`hostKey` to be exactly one of/],
    [{ knownHosts: '/a', pinned: FINGERPRINT }, /`hostKey` to be exactly one of/],
    [{ knownhost: '/a' }, /unknown option `hostKey\.knownhost`; did you mean `knownHosts`\?/],
    [{ knownHosts: [] }, /`hostKey\.knownHosts` to be a path or a non-empty array of paths/],
    [{ knownHosts: [''] }, /`hostKey\.knownHosts\[0\]` to be a path without NUL and newline/],
    [{ knownHosts: '/a\nUserKnownHostsFile /dev/null' }, /`hostKey\.knownHosts` to be a path without NUL and newline/],
    [{ pinned: [] }, /`hostKey\.pinned` to be a fingerprint or public key, or a non-empty array/],
    [{ pinned: [FINGERPRINT, 'SHA256:short'] }, /`hostKey\.pinned\[1\]` to be a fingerprint .* got `"SHA256:short"`/],
    [{ pinned: 5 }, /`hostKey\.pinned`/],
    [{ acceptNew: true }, /`hostKey\.acceptNew` to be a path/],
  ] as const) {
    it(`refuses ${JSON.stringify(given)?.slice(0, 60)}`, () =>
      assert.throws(() => policy(given), { code: 'ERR_INVALID_OPTION', message }))
  }

  it("does without the user's file where the user has no home", () => {
    const { HOME } = process.env
    process.env.HOME = 'nowhere'
    try {
      assert.deepEqual(policy(undefined), { kind: 'known-hosts', files: ['/etc/ssh/ssh_known_hosts'] })
      assert.throws(() => policy({ knownHosts: '~/hosts' }), { code: 'ERR_INVALID_OPTION', message: /no home directory/ })
    } finally {
      if (HOME === undefined) delete process.env.HOME
      else process.env.HOME = HOME
    }
  })
})
