import assert from 'node:assert/strict'
import { bracketed, canonicalHost, checkHost, isAddress } from '../../src/target/host.ts'

describe('canonicalHost', () => {
  for (const [given, canonical] of [
    ['gpu-7', 'gpu-7'],
    ['GPU-7.Example.COM', 'gpu-7.example.com'],
    ['a_b.c', 'a_b.c'],
    ['7up', '7up'],
    ['example.com.', 'example.com.'],
    ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8::A', '2001:db8::a'],
    ['fe80::1%Eth0', 'fe80::1%Eth0'],
    ['[FE80::1%eth0]', 'fe80::1%eth0'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    [`${'a'.repeat(63)}.b`, `${'a'.repeat(63)}.b`],
  ] as const) {
    it(`of "${given}" is "${canonical}"`, () => assert.equal(canonicalHost(given), canonical))
  }

  for (const given of [
    ...[
      '',
      ' ',
      '-oProxyCommand=id',
      '-host',
      'host-',
      'a..b',
      '.a',
      'a b',
      'a\nb',
      'a\0',
      'a\t',
      'host:22',
      'user@host',
      'ssh://host',
      'a/b',
    ],
    ...[
      'münchen.de',
      'a,b',
      'a*',
      '!a',
      '$(id)',
      'a;b',
      '`id`',
      '%h',
      '10.0.0.256',
      '010.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '1.2.3.4.5',
    ],
    ...[
      '[10.0.0.1]',
      '[host]',
      '[::1',
      '::1]',
      ':::',
      '1::2::3',
      'fe80::1%',
      'fe80::1%a b',
      'fe80::1%a%b',
      '::1\n',
      'g::1',
      '::ffff:10.0.0.256',
    ],
    ...[`${'a'.repeat(64)}.b`, Array.from({ length: 64 }, () => 'abcd').join('.')],
  ]) {
    it(`refuses ${JSON.stringify(given)}`, () => assert.equal(canonicalHost(given), undefined))
  }
})

describe('checkHost', () => {
  it('says what is wanted and what was given', () => {
    const expected = 'a DNS name in ASCII or an IP address, without user, port or scheme'
    assert.throws(() => checkHost('a b', 'host'), {
      code: 'ERR_INVALID_OPTION',
      message: `Expected \`host\` to be ${expected}, got \`"a b"\` (string)`,
    })
    assert.throws(() => checkHost(7, 'jumps[0].host'), {
      message: `Expected \`jumps[0].host\` to be ${expected}, got \`7\` (number)`,
    })
    assert.throws(() => checkHost(undefined, 'host'), { message: '`host` is required: a DNS name or an IP address' })
  })

  it('does not show a password before an @', () => {
    assert.throws(
      () => checkHost('root:hunter2@host', 'host'),
      (error: Error) => !error.message.includes('hunter2'),
    )
  })
})

it('isAddress and bracketed tell addresses from names and IPv6 from the rest', () => {
  assert.deepEqual(['::1', '10.0.0.1', 'ten'].map(isAddress), [true, true, false])
  assert.deepEqual(['::1', '10.0.0.1', 'ten'].map(bracketed), ['[::1]', '10.0.0.1', 'ten'])
})
