import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Ended, exitError } from '../../../src/transport/openssh/classify.ts'

const HOST = 'ops@gpu-7:22#1'
const ended = (said: string, more: Partial<Ended> = {}): Ended => ({
  exit: { code: 255, signal: null },
  said,
  phase: 'connect',
  host: HOST,
  directory: '/run/warren-0-abc123/def456',
  hostKeyTypes: undefined,
  ...more,
})
const CHANGED = `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
The fingerprint for the ED25519 key sent by the remote host is
SHA256:abc.
Host key verification failed.`

/** What ssh says (9.2 unless another is named), what that is, where it was, and whether to try again. */
const TABLE: ReadonlyArray<readonly [said: string, code: string, phase: string | undefined, isRetryable: boolean]> = [
  [CHANGED, 'ERR_HOST_KEY', 'hostkey', false],
  [
    'No ED25519 host key is known for [127.0.0.1]:22 and you have requested strict checking.\nHost key verification failed.',
    'ERR_HOST_KEY',
    'hostkey',
    false,
  ],
  ['@ WARNING: REVOKED HOST KEY DETECTED! @\nHost key verification failed.', 'ERR_HOST_KEY', 'hostkey', false],
  ['ops@gpu-7: Permission denied (publickey).', 'ERR_AUTH', 'auth', false],
  ['Permission denied (publickey,password).', 'ERR_AUTH', 'auth', false],
  [
    'Received disconnect from 127.0.0.1 port 22:2: Too many authentication failures\nDisconnected from 127.0.0.1 port 22',
    'ERR_AUTH',
    'auth',
    false,
  ],
  ['ssh: Could not resolve hostname gpu-7: Name or service not known', 'ERR_DNS', 'dns', true],
  ['ssh: Could not resolve hostname gpu-7: Temporary failure in name resolution', 'ERR_DNS', 'dns', true],
  ['ssh: connect to host gpu-7 port 22: Connection refused', 'ERR_REFUSED', 'connect', true],
  ['ssh: connect to host gpu-7 port 22: Network is unreachable', 'ERR_UNREACHABLE', 'connect', true],
  ['ssh: connect to host gpu-7 port 22: No route to host', 'ERR_UNREACHABLE', 'connect', true],
  ['ssh: connect to host gpu-7 port 22: Connection timed out', 'ERR_OPEN_TIMEOUT', 'connect', true],
  ['Connection timed out during banner exchange\nConnection to 127.0.0.1 port 22 timed out', 'ERR_OPEN_TIMEOUT', 'banner', true],
  [
    'kex_exchange_identification: Connection closed by remote host\nConnection closed by 127.0.0.1 port 22',
    'ERR_RESET',
    'banner',
    true,
  ],
  [
    'kex_exchange_identification: read: Connection reset by peer\nConnection reset by 127.0.0.1 port 22',
    'ERR_RESET',
    'banner',
    true,
  ],
  ['ssh_exchange_identification: Connection closed by remote host', 'ERR_RESET', 'banner', true],
  ['Connection reset by UNKNOWN port -1', 'ERR_RESET', 'connect', true],
  ['kex_exchange_identification: banner line too long', 'ERR_PROTOCOL', 'banner', false],
  ['banner exchange: Connection to 127.0.0.1 port 22: invalid format', 'ERR_PROTOCOL', 'banner', false],
  [
    'Unable to negotiate with 127.0.0.1 port 22: no matching cipher found. Their offer: chacha20-poly1305@openssh.com',
    'ERR_KEX',
    'kex',
    false,
  ],
  ['Unable to negotiate with 127.0.0.1 port 22: no matching key exchange method found. Their offer: x', 'ERR_KEX', 'kex', false],
  ['Unable to negotiate with 127.0.0.1 port 22: no matching host key type found. Their offer: ssh-rsa', 'ERR_KEX', 'kex', false],
  ['Unable to negotiate with 127.0.0.1 port 22: no matching MAC found. Their offer: hmac-sha1', 'ERR_KEX', 'kex', false],
  ['Connection closed by 127.0.0.1 port 22', 'ERR_RESET', 'connect', true],
  [
    '/run/warren-0-abc123/def456/f: line 3: Bad configuration option: frobnicate\n/run/warren-0-abc123/def456/f: terminating, 1 bad configuration options',
    'ERR_INVALID_OPTION',
    'connect',
    false,
  ],
  ["/run/warren-0-abc123/def456/f line 3: Bad SSH2 cipher spec 'rot13'.", 'ERR_INVALID_OPTION', 'connect', false],
  ["Bad local forwarding specification 'x'", 'ERR_INVALID_OPTION', 'connect', false],
  ["Can't open user config file /x: No such file or directory", 'ERR_INVALID_OPTION', 'connect', false],
  ['hostname contains invalid characters', 'ERR_INVALID_OPTION', 'connect', false],
  ['usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface]', 'ERR_INVALID_OPTION', 'connect', false],
  ["ControlPath too long ('/x' >= 108 bytes)", 'ERR_PATH_TOO_LONG', 'connect', false],
  ['unix_listener: path "/x.fvxI6z3ZHxLToBPU" too long for Unix domain socket', 'ERR_PATH_TOO_LONG', 'connect', false],
  [
    'channel 0: open failed: connect failed: Connection refused\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535',
    'ERR_REFUSED',
    'connect',
    true,
  ],
  [
    'channel 0: open failed: connect failed: Name or service not known\nstdio forwarding failed\nConnection closed by UNKNOWN port 65535',
    'ERR_DNS',
    'dns',
    true,
  ],
  [
    'channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed',
    'ERR_PROHIBITED',
    'connect',
    false,
  ],
  ['channel 0: open failed: connect failed: No route to host\nstdio forwarding failed', 'ERR_UNREACHABLE', 'connect', true],
  [
    'Control socket connect(/run/warren-0-abc123/def456/c): Connection refused\nConnection closed by UNKNOWN port 65535',
    'ERR_UNREACHABLE',
    'connect',
    true,
  ],
  ['fork failed: Resource temporarily unavailable', 'ERR_LOCAL_LIMIT', 'connect', true],
  ['socket: Too many open files', 'ERR_LOCAL_LIMIT', 'connect', true],
  ['Could not create pipes to communicate with the proxy: Too many open files', 'ERR_LOCAL_LIMIT', 'connect', true],
  ['Bad packet length 1349676916.', 'ERR_PROTOCOL', 'connect', false],
]

describe("ssh's own words", () => {
  for (const [said, code, phase, isRetryable] of TABLE)
    it(`${JSON.stringify(said.slice(0, 90))} is ${code}`, () => {
      const error = exitError(ended(said))
      assert.deepEqual([error.code, error.phase, error.retryable], [code, phase, isRetryable])
      assert.ok(error.message.startsWith(`${HOST}: `), error.message)
      assert.doesNotMatch(error.message, /warren-0-abc123/)
    })

  it('of a host that has no key of the known types: its keys have changed', () => {
    const said = 'Unable to negotiate with 127.0.0.1 port 22: no matching host key type found. Their offer: ssh-ed25519'
    const error = exitError(ended(said, { hostKeyTypes: ['rsa-sha2-512'] }))
    assert.deepEqual([error.code, error.phase], ['ERR_HOST_KEY', 'hostkey'])
    assert.match(error.message, /rsa-sha2-512.*changed/)
  })

  for (const said of [
    'Timeout, server 127.0.0.1 not responding.',
    'Connection to 127.0.0.1 closed by remote host.',
    'client_loop: send disconnect: Broken pipe',
    'anything at all',
    '',
  ])
    it(`${JSON.stringify(said)}, once it was up, is its loss`, () => {
      const error = exitError(ended(said, { phase: 'open' }))
      assert.deepEqual([error.code, error.phase, error.retryable], ['ERR_LOST', undefined, true])
      assert.ok(error.message.includes(said.slice(0, 20)))
    })

  it('that are unknown are kept, and are no reason never to try again', () => {
    const error = exitError(ended('the frobnicator has hiccups', { phase: 'auth' }))
    assert.deepEqual([error.code, error.phase], ['ERR_RESET', 'auth'])
    assert.match(error.message, /the frobnicator has hiccups/)
  })

  it('may be none', () => assert.match(exitError(ended('')).message, /ssh has ended \(exit code 255\)/))

  it('do not count when somebody has killed it', () => {
    const error = exitError(ended('Permission denied (publickey).', { exit: { code: null, signal: 'SIGKILL' } }))
    assert.equal(error.code, 'ERR_LOST')
    assert.match(error.message, /killed by SIGKILL/)
  })

  it('and those of setpriv that it is not there', () => {
    const said = 'setpriv: failed to execute /opt/ssh: No such file or directory'
    assert.equal(exitError(ended(said, { exit: { code: 127, signal: null } })).code, 'ERR_SSH_MISSING')
    assert.notEqual(exitError(ended(said)).code, 'ERR_SSH_MISSING')
  })

  it('are bounded and clean, whatever a server puts into them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (said) => {
        const { message } = exitError(ended(said))
        assert.ok(message.length < 600)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        assert.doesNotMatch(message, /[\u0000-\u001f\u007f-\u009f]/)
      }),
    )
  })

  it('are not taken from a banner, which a server sends when ssh logs in', () => {
    const said =
      'Host key verification failed.\nConnection refused by HR\nssh: Could not resolve hostname x\nroot@gpu-7: Permission denied (publickey).'
    const error = exitError(ended(said, { phase: 'auth' }))
    assert.equal(error.code, 'ERR_AUTH')
    assert.doesNotMatch(error.message, /verification|HR/)
  })

  it('name the jump when it is that which failed, and not the host behind it', () => {
    const hopOf = (said: string) => exitError(ended(said, { hop: 'ops@bastion:22' })).hop
    assert.equal(hopOf('channel 0: open failed: administratively prohibited: open failed'), 'ops@bastion:22')
    assert.equal(hopOf('Control socket connect(/x): Connection refused'), 'ops@bastion:22')
    assert.equal(hopOf('channel 0: open failed: connect failed: Connection refused'), undefined)
  })
})
