import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { ForwardSpec } from '../../src/api/forward.ts'
import { resolveForward } from '../../src/options/forward.ts'
import { resolveRemote } from '../../src/options/remote.ts'

const resolve = (spec: unknown) => resolveForward(spec as ForwardSpec)
const unix = { kind: 'unix', socketPath: undefined }

describe('resolveForward', () => {
  for (const [spec, expected] of [
    [{ to: { port: 80 } }, { kind: 'local', to: { port: 80, host: '127.0.0.1' }, listen: unix, isTakingOver: false }],
    [
      { to: { port: 65535, host: 'DB.internal' } },
      { kind: 'local', to: { port: 65535, host: 'db.internal' }, listen: unix, isTakingOver: false },
    ],
    [
      { to: { socketPath: '/run/db' }, listen: 'unix' },
      { kind: 'local', to: { socketPath: '/run/db' }, listen: unix, isTakingOver: false },
    ],
    [
      { to: { port: 1 }, listen: 'tcp' },
      {
        kind: 'local',
        to: { port: 1, host: '127.0.0.1' },
        listen: { kind: 'tcp', host: '127.0.0.1', port: 0 },
        isTakingOver: false,
      },
    ],
    [
      { to: { port: 1 }, listen: { port: 0, host: '[::1]' } },
      { kind: 'local', to: { port: 1, host: '127.0.0.1' }, listen: { kind: 'tcp', host: '::1', port: 0 }, isTakingOver: false },
    ],
    [
      { to: { port: 1 }, listen: { socketPath: '/run/me' }, takeOver: true },
      { kind: 'local', to: { port: 1, host: '127.0.0.1' }, listen: { kind: 'unix', socketPath: '/run/me' }, isTakingOver: true },
    ],
    [
      { remote: { port: 0 }, to: { port: 8080 } },
      { kind: 'reverse', remote: { port: 0, host: '127.0.0.1' }, to: { port: 8080, host: '127.0.0.1' } },
    ],
    [
      { remote: { socketPath: '/run/there' }, to: { socketPath: 'here' } },
      { kind: 'reverse', remote: { socketPath: '/run/there' }, to: { socketPath: 'here' } },
    ],
    [{ socks: true }, { kind: 'dynamic', credentials: undefined, listen: unix }],
    [
      { socks: true, listen: 'tcp', insecure: true },
      { kind: 'dynamic', credentials: undefined, listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } },
    ],
  ] as const) {
    it(`completes ${JSON.stringify(spec)}`, () => assert.deepEqual(resolve(spec), expected))
  }

  it('keeps the credentials of a SOCKS endpoint, the password behind a Secret', () => {
    const resolved = resolve({ socks: { username: 'me', password: 'hunter2' }, listen: 'tcp' })
    assert.ok(resolved.kind === 'dynamic')
    assert.equal(resolved.credentials?.username, 'me')
    assert.equal(resolved.credentials?.password.reveal(), 'hunter2')
    assert.doesNotMatch(inspect(resolved, { depth: 10, showHidden: true }) + JSON.stringify(resolved), /hunter2/)
  })

  it('does not follow later changes of what was given', () => {
    const spec = { to: { port: 80, host: 'a' }, listen: { port: 1, host: '127.0.0.1' } }
    const resolved = resolve(spec)
    spec.to.port = 81
    spec.listen.port = 2
    assert.deepEqual(resolved, {
      kind: 'local',
      to: { port: 80, host: 'a' },
      listen: { kind: 'tcp', port: 1, host: '127.0.0.1' },
      isTakingOver: false,
    })
  })

  for (const [spec, message] of [
    [undefined, /`forward` to be { to }, { remote, to } or { socks }, got `undefined`/],
    [{}, /`forward` to be { to }, { remote, to } or { socks }, got `Object` \(object\)/],
    [{ too: { port: 1 } }, /unknown option `forward\.too`; did you mean `to`\?/],
    [{ to: { port: 0 } }, /`forward\.to\.port` to be a port from 1 to 65535, got `0`/],
    [{ to: { port: 65536 } }, /`forward\.to\.port`/],
    [{ to: { port: 1.5 } }, /`forward\.to\.port`/],
    [{ to: { port: '80' } }, /`forward\.to\.port`.*got `"80"` \(string\)/],
    [{ to: { host: 'a' } }, /`forward\.to` to be { port, host } or { socketPath }/],
    [{ to: 80 }, /`forward\.to` to be { port, host } or { socketPath }, got `80`/],
    [{ to: { port: 1, socketPath: '/x' } }, /`forward\.to` to be either .*, not both/],
    [{ to: { host: 'a', socketPath: '/x' } }, /`forward\.to` to be either .*, not both/],
    [{ to: { port: 1, hots: 'a' } }, /unknown option `forward\.to\.hots`/],
    [{ to: { port: 1, host: 'a b' } }, /`forward\.to\.host` to be a DNS name/],
    [{ to: { port: 1, host: '' } }, /`forward\.to\.host` to be a DNS name/],
    [{ to: { socketPath: '' } }, /`forward\.to\.socketPath` to be a path without NUL/],
    [{ to: { socketPath: '\0abstract' } }, /`forward\.to\.socketPath` to be a path without NUL/],
    [{ to: { port: 1 }, listen: 'udp' }, /`forward\.listen` to be 'unix', 'tcp', { socketPath } or { port, host }/],
    [{ to: { port: 1 }, listen: { socketPath: 'relative' } }, /`forward\.listen\.socketPath` to be an absolute path/],
    [{ to: { port: 1 }, listen: { port: 70_000 } }, /`forward\.listen\.port` to be a port from 1 to 65535, or 0/],
    [{ to: { port: 1 }, listen: { port: 1, host: 'localhost' } }, /`forward\.listen\.host` to be an IP address/],
    [{ to: { port: 1 }, takeOver: true }, /`forward\.takeOver` to be left out, unless `listen` is a { socketPath }/],
    [{ to: { port: 1 }, listen: 'tcp', takeOver: true }, /`forward\.takeOver`/],
    [{ to: { port: 1 }, listen: { socketPath: '/x' }, takeOver: 1 }, /`forward\.takeOver` to be true or false/],
    [{ to: { port: 1 }, insecure: true }, /unknown option `forward\.insecure`/],
    [{ remote: { port: 1 } }, /`forward\.to` to be { port, host }/],
    [{ remote: { port: 1 }, to: { port: 0 } }, /`forward\.to\.port` to be a port from 1/],
    [{ remote: { socketPath: 'relative' }, to: { port: 1 } }, /`forward\.remote\.socketPath` to be an absolute path/],
    [{ remote: { port: 1 }, to: { port: 1 }, listen: 'tcp' }, /unknown option `forward\.listen`/],
    [{ remote: { port: 1 }, socks: true }, /unknown option `forward\.socks`/],
    [{ socks: true, to: { port: 1 } }, /unknown option `forward\.to`/],
    [{ socks: true, listen: 'tcp' }, /`forward\.socks` to be { username, password } on a TCP endpoint/],
    [{ socks: true, listen: { port: 1080 } }, /`forward\.socks` to be { username, password } on a TCP endpoint/],
    [{ socks: true, listen: 'tcp', insecure: false }, /`forward\.socks` to be { username, password } on a TCP endpoint/],
    [{ socks: false }, /`forward\.socks` to be true or { username, password }/],
    [
      { socks: { username: 'me' } },
      /`forward\.socks\.password` to be a string of 1 to 255 bytes, got a value that is not shown \(undefined\)/,
    ],
    [{ socks: { username: 'me', password: 'é'.repeat(128) } }, /`forward\.socks\.password` .* not shown \(string\)$/],
    [{ socks: { username: '', password: 'p' } }, /`forward\.socks\.username`/],
    [{ socks: { user: 'me', password: 'p' } }, /unknown option `forward\.socks\.user`; did you mean `username`\?/],
  ] as const) {
    it(`refuses ${JSON.stringify(spec)}`, () => assert.throws(() => resolve(spec), { code: 'ERR_INVALID_OPTION', message }))
  }
})

describe('resolveRemote', () => {
  it('names what it was given for', () => {
    assert.throws(() => resolveRemote({ port: 0 }), {
      message: 'Expected `to.port` to be a port from 1 to 65535, got `0` (number)',
    })
  })
})
