import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Target } from '../../src/api/target.ts'
import { Targets } from '../../src/target.ts'

const defaults = { transport: 'ssh2', keepAliveIntervalMillis: 10_000, keepAliveCountMax: 3 } as const
const plain: Target = { host: 'gpu-7', user: 'ops', identity: { path: '/k' } }
const resolve = (given: unknown) => new Targets(defaults).resolve(given as Target)
const refuses = (given: unknown, message: RegExp, code = 'ERR_INVALID_OPTION') =>
  assert.throws(() => resolve(given), { name: 'TunnelError', code, phase: undefined, message })

describe('Targets', () => {
  it('completes a target', () => {
    const { key, identities, hostKey, ...resolved } = resolve(plain)
    assert.equal(typeof key, 'string')
    assert.deepEqual([identities.length, hostKey.kind], [1, 'known-hosts'])
    assert.deepEqual(resolved, {
      id: 'ops@gpu-7:22#1',
      host: 'gpu-7',
      port: 22,
      user: 'ops',
      address: 'gpu-7:22',
      route: 'gpu-7:22',
      jump: undefined,
      hops: 0,
      hostKeyName: 'gpu-7',
      transport: 'ssh2',
      keepAliveIntervalMillis: 10_000,
      keepAliveCountMax: 3,
      label: undefined,
      openssh: undefined,
      connect: undefined,
    })
  })

  for (const [given, id, address, hostKeyName] of [
    [{ host: 'GPU-7', port: 2222 }, 'ops@gpu-7:2222#1', 'gpu-7:2222', '[gpu-7]:2222'],
    [{ host: '[2001:DB8::1]' }, 'ops@[2001:db8::1]:22#1', '[2001:db8::1]:22', '2001:db8::1'],
    [{ host: '::1', port: 23 }, 'ops@[::1]:23#1', '[::1]:23', '[::1]:23'],
    [{ port: 2222, hostKeyAlias: 'i-0AbC' }, 'ops@gpu-7:2222#1', 'gpu-7:2222', 'i-0AbC'],
  ] as const) {
    it(`names ${JSON.stringify(given)}`, () => {
      const resolved = resolve({ ...plain, ...given })
      assert.deepEqual([resolved.id, resolved.address, resolved.hostKeyName], [id, address, hostKeyName])
    })
  }

  it('parses an object once, and keeps the meaning it had then', () => {
    const targets = new Targets(defaults)
    const target = { ...plain, identity: [{ path: '/k' }] }
    const resolved = targets.resolve(target)
    target.host = 'elsewhere'
    target.identity.push({ path: '/l' })
    assert.equal(targets.resolve(target), resolved)
    assert.equal(resolved.host, 'gpu-7')
    assert.equal(resolved.identities.length, 1)
    assert.ok(Object.isFrozen(resolved) && Object.isFrozen(resolved.identities) && Object.isFrozen(resolved.hostKey))
  })

  it('asks the first of two loaders of one id', async () => {
    const targets = new Targets(defaults)
    const by = (name: string) => ({ ...plain, label: name, identity: { id: 'vault', load: async () => ({ password: name }) } })
    const [first, second] = [targets.resolve(by('first')), targets.resolve(by('second'))]
    assert.equal(second.label, 'second')
    for (const { identities } of [first, second]) {
      const [identity] = identities
      assert.ok(identity?.kind === 'load')
      const loaded = await identity.load(new AbortController().signal)
      assert.ok(loaded.kind === 'password')
      assert.equal(loaded.password.reveal(), 'first')
    }
  })

  it('shows no secret by any way of looking at it', () => {
    const identity = [
      { path: '/k', passphrase: 's3cret-1' },
      { key: 's3cret-2', passphrase: 's3cret-3' },
      { key: Buffer.from('s3cret-4') },
      { password: 's3cret-5' },
      { id: 'vault', load: async () => ({ password: 's3cret-6' }) },
    ]
    const targets = new Targets(defaults)
    const resolved = targets.resolve({ ...plain, identity })
    const looks = [
      inspect(resolved, { depth: 10, showHidden: true, getters: true }),
      inspect(targets, { depth: 10, showHidden: true }),
      JSON.stringify(resolved),
      resolved.key,
      resolved.id,
      String(resolved.identities),
      resolved.identities.map((each) => `${Object.values(each)}`).join(),
    ]
    const bytes = [...Buffer.from('s3cret-4')]
    for (const look of looks) {
      assert.doesNotMatch(look, /s3cret/)
      for (const written of [
        bytes.join(),
        bytes.join(', '),
        Buffer.from(bytes).toString('hex'),
        bytes.map((byte) => byte.toString(16)).join(' '),
      ]) {
        assert.ok(!look.includes(written))
      }
    }
    assert.match(looks[0] ?? '', /\[secret\]/)
  })

  for (const [given, message] of [
    [undefined, /^Expected `target` to be an object with host, user and identity, got `undefined`/],
    ['ops@gpu-7', /^Expected `target` to be an object/],
    [{ ...plain, hots: 'a' }, /^unknown option `target\.hots`; did you mean `host`\?/],
    [{ ...plain, username: 'a' }, /^unknown option `target\.username`; did you mean `user`\?/],
    [{ ...plain, host: undefined }, /^`host` is required/],
    [{ ...plain, host: '-oProxyCommand=id' }, /^Expected `host` to be a DNS name/],
    [{ ...plain, user: undefined }, /^Expected `user` to be a user name .*got `undefined`/],
    [{ ...plain, user: '-lroot' }, /^Expected `user`/],
    [{ ...plain, user: 'a b' }, /^Expected `user`/],
    [{ ...plain, user: 'a\nProxyCommand id' }, /^Expected `user`/],
    [{ ...plain, user: 'a\0' }, /^Expected `user`/],
    [{ ...plain, user: '\u202eroot' }, /^Expected `user`/],
    [{ ...plain, user: '' }, /^Expected `user`/],
    [{ ...plain, user: 'a'.repeat(256) }, /^Expected `user`/],
    [{ ...plain, identity: undefined }, /^`identity` is required/],
    [{ ...plain, port: 0 }, /^Expected `port` to be a port from 1 to 65535, got `0`/],
    [{ ...plain, port: 65536 }, /^Expected `port`/],
    [{ ...plain, port: '22' }, /^Expected `port`/],
    [{ ...plain, hostKeyAlias: '-x' }, /^Expected `hostKeyAlias`/],
    [{ ...plain, hostKeyAlias: 'a,b' }, /^Expected `hostKeyAlias`/],
    [{ ...plain, hostKeyAlias: '*' }, /^Expected `hostKeyAlias`/],
    [{ ...plain, hostKeyAlias: 'a\nb' }, /^Expected `hostKeyAlias`/],
    [{ ...plain, hostKeyAlias: '' }, /^Expected `hostKeyAlias`/],
    [{ ...plain, label: 'a\u001b[2J' }, /^Expected `label` to be at most 200 printable characters/],
    [{ ...plain, label: 'a'.repeat(201) }, /^Expected `label`/],
    [{ ...plain, keepAliveIntervalMillis: -1 }, /^Expected `keepAliveIntervalMillis`/],
    [{ ...plain, keepAliveCountMax: 0 }, /^Expected `keepAliveCountMax`/],
    [{ ...plain, transport: 'ssh' }, /^Expected `transport` to be 'ssh2' or 'openssh'/],
    [{ ...plain, connect: {} }, /^Expected `connect` to be a function/],
    [{ ...plain, jumps: {} }, /^Expected `jumps` to be an array of jumps/],
    [{ ...plain, jumps: [{ hots: 'a' }] }, /^unknown option `jumps\[0\]\.hots`; did you mean `host`\?/],
    [{ ...plain, jumps: [{ host: 'a b' }] }, /^Expected `jumps\[0\]\.host`/],
    [{ ...plain, jumps: [{ host: 'a', port: 0 }] }, /^Expected `jumps\[0\]\.port`/],
    [{ ...plain, jumps: [{ host: 'a', user: '-x' }] }, /^Expected `jumps\[0\]\.user`/],
    [{ ...plain, jumps: [{ host: 'a', identity: [] }] }, /^Expected `jumps\[0\]\.identity`/],
    [{ ...plain, jumps: [{ host: 'a', hostKey: {} }] }, /^Expected `jumps\[0\]\.hostKey`/],
    [{ ...plain, jumps: [{ host: 'a', hostKeyAlias: '*' }] }, /^Expected `jumps\[0\]\.hostKeyAlias`/],
    [{ ...plain, openssh: { config: '/x' } }, /^unknown option `openssh\.config`; did you mean `configFile`\?/],
  ] as const) {
    it(`refuses ${JSON.stringify(given)?.slice(0, 90)}`, () => refuses(given, message))
  }

  for (const [what, more, message] of [
    ['openssh options with ssh2', { openssh: {} }, /^`openssh` options need transport 'openssh'/],
    [
      'certificates with ssh2',
      { identity: { path: '/k', certificate: '/c' } },
      /^`certificate` needs transport 'openssh', or leave it out/,
    ],
    ['passwords with openssh', { transport: 'openssh', identity: { password: 'x' } }, /^`password` needs transport 'ssh2'/],
    [
      'a stream with openssh',
      { transport: 'openssh', connect: async () => new PassThrough() },
      /^`connect` needs transport 'ssh2'/,
    ],
  ] as const) {
    it(`says what to do instead of ${what}`, () => refuses({ ...plain, ...more }, message, 'ERR_UNSUPPORTED'))
  }

  it('does not remember a target that it refused', () => {
    const targets = new Targets(defaults)
    const target = { ...plain, port: 0 }
    assert.throws(() => targets.resolve(target))
    target.port = 23
    assert.equal(targets.resolve(target).port, 23)
  })
})

describe('Targets, over time', () => {
  it('gives another object of a forgotten key a new number, which the first then has, too', () => {
    const targets = new Targets(defaults)
    const [old, other] = [{ ...plain }, { ...plain }]
    const before = targets.resolve(old)
    targets.forget(before.key)
    assert.equal(targets.size, 0)
    assert.equal(targets.resolve(other).id, 'ops@gpu-7:22#2')
    const after = targets.resolve(old)
    assert.deepEqual([after.id, after.key], ['ops@gpu-7:22#2', before.key])
    assert.equal(after.identities, targets.resolve(other).identities)
    assert.equal(targets.resolve(old), after)
    assert.ok(Object.isFrozen(after))
  })

  it('takes up a forgotten number again with the same object', () => {
    const targets = new Targets(defaults)
    const old = { ...plain }
    const before = targets.resolve(old)
    targets.forget(before.key)
    assert.equal(targets.resolve(old), before)
    assert.equal(targets.resolve({ ...plain }).id, before.id)
  })

  it('does not grow by what was only looked at, and keeps what anybody holds', async () => {
    const targets = new Targets(defaults)
    const held = targets.resolve({ ...plain })
    for (let n = 0; n < 500; n += 1)
      targets.resolve({ ...plain, host: `host-${n}`, identity: n % 2 === 0 ? 'ambient' : { path: '/k' } })
    assert.equal(targets.size, 501)
    await collectUntil(() => targets.size <= 1)
    assert.equal(targets.size, 1)
    assert.equal(targets.resolve({ ...plain }).id, held.id)
  })

  it('keeps the number of a key whose former holders are collected', async () => {
    const targets = new Targets(defaults)
    const { key } = targets.resolve({ ...plain })
    targets.forget(key)
    const held = targets.resolve({ ...plain })
    targets.resolve({ ...plain, host: 'canary' })
    await collectUntil(() => targets.size <= 1)
    assert.equal(targets.resolve({ ...plain }).id, held.id)
  })
})

async function collectUntil(isDone: () => boolean): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let turn = 0; turn < 200 && !isDone(); turn += 1) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
