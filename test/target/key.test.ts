import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { Duplex } from 'node:stream'
import type { Target } from '../../src/api/target.ts'
import { fingerprint } from '../../src/target/fingerprint.ts'
import { Targets } from '../../src/target.ts'
import { ECDSA, ED25519, FINGERPRINT } from './keys.ts'

const defaults = { transport: 'ssh2', keepAliveIntervalMillis: 10_000, keepAliveCountMax: 3 } as const
const plain: Target = { host: 'gpu-7', user: 'ops', identity: { path: '/k' } }
const connect = async () => new Duplex()
const load = async () => ({ password: 'x' })

const same: ReadonlyArray<readonly [string, Partial<Target>, Partial<Target>]> = [
  ['copies', {}, {}],
  ['the default port, said or not', {}, { port: 22 }],
  ['upper and lower case of a host', {}, { host: 'GPU-7' }],
  ['an IPv6 address with and without brackets, long and short', { host: '[::1]' }, { host: '0:0::1' }],
  ['labels', { label: 'a' }, { label: 'b' }],
  ['one identity, alone or in an array', {}, { identity: [{ path: '/k' }] }],
  ['a path from home, short and in full', { identity: { path: '~/k' } }, { identity: { path: `${homedir()}/k` } }],
  ['a path, relative and in full', { identity: { path: 'k' } }, { identity: { path: `${process.cwd()}/k` } }],
  ['one key as text and as bytes', { identity: { key: 'k' } }, { identity: { key: Buffer.from('k') } }],
  ['one password', { identity: { password: 'p' } }, { identity: { password: 'p' } }],
  ['two loaders of one id', { identity: { id: 'a', load } }, { identity: { id: 'a', load: async () => ({ password: 'y' }) } }],
  [
    'public keys but for the comment',
    { identity: { agent: '/a', publicKeys: [ED25519] } },
    { identity: { agent: '/a', publicKeys: [`${ED25519} me`] } },
  ],
  ['pins in any order', { hostKey: { pinned: [FINGERPRINT, ECDSA] } }, { hostKey: { pinned: [ECDSA, FINGERPRINT] } }],
  ['the default policy, said or not', {}, { hostKey: { knownHosts: ['~/.ssh/known_hosts', '/etc/ssh/ssh_known_hosts'] } }],
  [
    'the defaults of the pool, said or not',
    {},
    { transport: 'ssh2', keepAliveIntervalMillis: 10_000, keepAliveCountMax: 3, jumps: [] },
  ],
  ['one connect function', { connect }, { connect }],
  [
    'a jump that says what it would take from the target',
    { jumps: [{ host: 'bastion' }] },
    { jumps: [{ host: 'BASTION', port: 22, user: 'ops', identity: { path: '/k' } }] },
  ],
]

const different: ReadonlyArray<readonly [string, Partial<Target>, Partial<Target>]> = [
  ['hosts', {}, { host: 'gpu-8' }],
  ['ports', {}, { port: 2222 }],
  ['users', {}, { user: 'root' }],
  ['case of a user', {}, { user: 'Ops' }],
  ['zones', { host: 'fe80::1%a' }, { host: 'fe80::1%b' }],
  ['paths', {}, { identity: { path: '/l' } }],
  ['a passphrase and none', {}, { identity: { path: '/k', passphrase: 'p' } }],
  ['passphrases', { identity: { path: '/k', passphrase: 'p' } }, { identity: { path: '/k', passphrase: 'q' } }],
  ['key contents', { identity: { key: 'k' } }, { identity: { key: 'l' } }],
  ['a key and a password of the same content', { identity: { key: 'k' } }, { identity: { password: 'k' } }],
  ['passwords', { identity: { password: 'p' } }, { identity: { password: 'q' } }],
  ['agents', { identity: { agent: true } }, { identity: { agent: '/a' } }],
  ['public keys of an agent', { identity: { agent: true } }, { identity: { agent: true, publicKeys: [ED25519] } }],
  ['loaders', { identity: { id: 'a', load } }, { identity: { id: 'b', load } }],
  ['an agent and the ambient', { identity: { agent: true } }, { identity: 'ambient' }],
  ['the order of identities', { identity: [{ path: '/k' }, { path: '/l' }] }, { identity: [{ path: '/l' }, { path: '/k' }] }],
  ['more identities', {}, { identity: [{ path: '/k' }, { path: '/l' }] }],
  ['policies', {}, { hostKey: 'insecure-accept-any' }],
  ['pins', { hostKey: { pinned: FINGERPRINT } }, { hostKey: { pinned: ED25519 } }],
  ['known_hosts files', { hostKey: { knownHosts: '/a' } }, { hostKey: { knownHosts: '/b' } }],
  ['files to accept new keys in', { hostKey: 'accept-new' }, { hostKey: { acceptNew: '/a' } }],
  ['aliases', { hostKeyAlias: 'i-1' }, { hostKeyAlias: 'i-2' }],
  ['keepalive intervals', {}, { keepAliveIntervalMillis: 0 }],
  ['no keepalive and one that never comes', { keepAliveIntervalMillis: 0 }, { keepAliveIntervalMillis: Infinity }],
  ['keepalive counts', {}, { keepAliveCountMax: 4 }],
  ['a jump and none', {}, { jumps: [{ host: 'bastion' }] }],
  ['jumps', { jumps: [{ host: 'bastion' }] }, { jumps: [{ host: 'bastion-2' }] }],
  ['users of a jump', { jumps: [{ host: 'bastion' }] }, { jumps: [{ host: 'bastion', user: 'root' }] }],
  ['identities of a jump', { jumps: [{ host: 'bastion' }] }, { jumps: [{ host: 'bastion', identity: { path: '/l' } }] }],
  ['policies of a jump', { jumps: [{ host: 'bastion' }] }, { jumps: [{ host: 'bastion', hostKey: 'accept-new' }] }],
  ['the order of jumps', { jumps: [{ host: 'a' }, { host: 'b' }] }, { jumps: [{ host: 'b' }, { host: 'a' }] }],
  ['hops before the last', { jumps: [{ host: 'a' }, { host: 'c' }] }, { jumps: [{ host: 'b' }, { host: 'c' }] }],
  ['a connect function and none', {}, { connect }],
  ['connect functions', { connect }, { connect: async () => new Duplex() }],
]

describe('the key of a target', () => {
  for (const [what, one, other] of same) {
    it(`is the same for ${what}, and so is the id`, () => {
      const targets = new Targets(defaults)
      const [a, b] = [targets.resolve({ ...plain, ...one }), targets.resolve({ ...plain, ...other })]
      assert.equal(a.key, b.key)
      assert.equal(a.id, b.id)
      assert.equal(targets.size, 1 + a.hops)
    })
  }

  for (const [what, one, other] of different) {
    it(`differs by ${what}, and so does the id`, () => {
      const targets = new Targets(defaults)
      const [a, b] = [targets.resolve({ ...plain, ...one }), targets.resolve({ ...plain, ...other })]
      assert.notEqual(a.key, b.key)
      assert.notEqual(a.id.split('#')[1], b.id.split('#')[1])
    })
  }

  it('differs with the defaults of the pool', () => {
    const key = (more: object) => new Targets({ ...defaults, ...more }).resolve(plain).key
    assert.notEqual(key({}), key({ keepAliveCountMax: 5 }))
  })
})

it('fingerprint tells uses and values apart, and takes text for its bytes', () => {
  assert.equal(fingerprint('key', 'abc'), fingerprint('key', Buffer.from('abc')))
  const prints = [fingerprint('key', 'abc'), fingerprint('password', 'abc'), fingerprint('key', 'abd'), fingerprint('keya', 'bc')]
  assert.equal(new Set(prints).size, 4)
})
