import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Parsed, parseGreeting, parseLogin, parseRequest, REPLY, replyFor } from '../../src/channels/socks/protocol.ts'
import { TunnelError } from '../../src/errors.ts'

const bytes = (...values: number[]) => Buffer.from(values)
const text = (value: string) => [value.length, ...Buffer.from(value, 'latin1')]
const PARSERS: ReadonlyArray<[name: string, parse: (given: Buffer) => Parsed<unknown>, longest: number]> = [
  ['greeting', parseGreeting, 257],
  ['login', parseLogin, 513],
  ['request', parseRequest, 262],
]
const greeting = fc.uint8Array({ minLength: 1, maxLength: 255 }).map((methods) => bytes(5, methods.length, ...methods))
const field = fc.uint8Array({ minLength: 1, maxLength: 255 })
const login = fc.tuple(field, field).map(([name, word]) => bytes(1, name.length, ...name, word.length, ...word))
const port = fc.integer({ min: 1, max: 65_535 }).map((value) => [value >> 8, value & 255])
const place = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((ip) => [1, ...ip]),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((ip) => [4, ...ip]),
  fc.domain().map((name) => [3, ...text(name)]),
)
const request = fc.tuple(place, port).map(([to, at]) => bytes(5, 1, 0, ...to, ...at))
const messages = { greeting, login, request }

describe('the words of SOCKS5', () => {
  it('are read as RFC 1928 and RFC 1929 lay them out', () => {
    assert.deepEqual(parseGreeting(bytes(5, 2, 0, 2, 99)), { value: Buffer.from([0, 2]), length: 4 })
    assert.deepEqual(parseLogin(bytes(1, 2, 97, 98, 1, 99, 7)), {
      value: { username: Buffer.from('ab'), password: Buffer.from('c') },
      length: 6,
    })
    const asked = (...to: number[]) => parseRequest(bytes(5, 1, 0, ...to))
    const answer = (host: string, at: number, length: number) => ({ value: { command: 1, to: { host, port: at } }, length })
    assert.deepEqual(asked(1, 127, 0, 0, 1, 0x1f, 0x90), answer('127.0.0.1', 8080, 10))
    assert.deepEqual(asked(4, 0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1, 0, 80), answer('2001:db8:0:0:0:0:0:1', 80, 22))
    assert.deepEqual(asked(3, ...text('host.example'), 1, 187, 1, 2), answer('host.example', 443, 19))
    assert.deepEqual(parseRequest(bytes(5, 2, 0, 1, 1, 2, 3, 4, 0, 1)), {
      value: { command: 2, to: { host: '1.2.3.4', port: 1 } },
      length: 10,
    })
    assert.deepEqual(asked(2, 0), { value: { command: 1, to: undefined }, length: 5 })
  })

  it('that are wrong are known by the first byte that shows it', () => {
    assert.equal(parseGreeting(bytes(4)), 'wrong')
    assert.equal(parseGreeting(bytes(71, 69, 84)), 'wrong')
    assert.equal(parseGreeting(bytes(5, 0)), 'wrong')
    assert.equal(parseLogin(bytes(5)), 'wrong')
    assert.equal(parseLogin(bytes(1, 0)), 'wrong')
    assert.equal(parseLogin(bytes(1, 1, 97, 0)), 'wrong')
    assert.equal(parseRequest(bytes(5, 1, 7)), 'wrong')
    assert.equal(parseRequest(bytes(5, 1, 0, 3, 0)), 'wrong')
    for (const name of ['a b', 'a\0b', 'a\nb', 'ä']) assert.equal(parseRequest(bytes(5, 1, 0, 3, ...text(name), 0, 80)), 'wrong')
    assert.equal(parseRequest(bytes(5, 1, 0, 1, 1, 2, 3, 4, 0, 0)), 'wrong')
  })

  for (const [name, parse, longest] of PARSERS) {
    it(`${name}: wherever it is cut, more is wanted until it is whole, and what follows is left`, () => {
      fc.assert(
        fc.property(messages[name as keyof typeof messages], fc.uint8Array({ maxLength: 8 }), (message, rest) => {
          assert.ok(message.length <= longest)
          for (let length = 0; length < message.length; length += 1) assert.equal(parse(message.subarray(0, length)), 'more')
          const whole = parse(message)
          assert.ok(typeof whole === 'object' && whole.length === message.length)
          assert.deepEqual(parse(Buffer.concat([message, rest])), whole)
        }),
      )
    })

    it(`${name}: whatever comes, it never throws, and never wants more than there can be`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (given, isNearly) => {
          const noise = Buffer.from(given)
          if (isNearly && noise.length > 0) noise[0] = name === 'login' ? 1 : 5
          const parsed = parse(noise)
          if (parsed === 'more') assert.ok(noise.length < longest)
          else if (parsed !== 'wrong') assert.ok(parsed.length <= noise.length)
        }),
        { numRuns: 2_000 },
      )
    })
  }

  it('for a refusal are those that the server has said, and not those in a name', () => {
    const refused = (words: string, to = 'db:5432') =>
      replyFor(new TunnelError('ERR_CHANNEL_REFUSED', `the server could not connect to ${to}: ${words}`))
    assert.equal(refused('Connection refused'), REPLY.refused)
    assert.equal(refused('No route to host'), REPLY.hostUnreachable)
    assert.equal(refused('Connection timed out'), REPLY.hostUnreachable)
    assert.equal(refused('Name or service not known'), REPLY.hostUnreachable)
    assert.equal(refused('Network is unreachable'), REPLY.networkUnreachable)
    assert.equal(refused('open failed', 'x: Connection refused:80'), REPLY.failed)
    assert.equal(replyFor(new TunnelError('ERR_PROHIBITED', 'no')), REPLY.prohibited)
    assert.equal(replyFor(new TunnelError('ERR_CHANNEL_TIMEOUT', 'no')), REPLY.hostUnreachable)
    for (const code of ['ERR_LOST', 'ERR_ACQUIRE_TIMEOUT', 'ERR_CIRCUIT_OPEN'] as const)
      assert.equal(replyFor(new TunnelError(code, 'Connection refused')), REPLY.failed)
  })
})
