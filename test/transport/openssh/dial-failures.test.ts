import assert from 'node:assert/strict'
import type { Target } from '../../../src/index.ts'
import { Bench } from '../../support/master.ts'
import { refusal } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { startTarpit } from '../../support/tarpit.ts'
import { startTcpServer } from '../../support/tcp-server.ts'

const FINGERPRINT = `SHA256:${'A'.repeat(43)}`

describe('openssh: a dial that fails', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  const quick: Partial<Target> = { openssh: { options: { ConnectTimeout: '1' } } }

  for (const [what, more, code, phase] of [
    ['a name that nobody has', { host: 'nosuch.invalid' }, 'ERR_DNS', 'dns'],
    ['a port where nobody listens', { port: 1 }, 'ERR_REFUSED', 'connect'],
    ['a user whom the key does not let in', { user: 'nobody' }, 'ERR_AUTH', 'auth'],
    ['a key that is not pinned', { hostKey: { pinned: FINGERPRINT } }, 'ERR_HOST_KEY', 'hostkey'],
    ['a host that no known_hosts file lists', { hostKey: { knownHosts: '/nonexistent' } }, 'ERR_HOST_KEY', 'hostkey'],
    ['a cipher that the server does not have', { openssh: { options: { Ciphers: '3des-cbc' } } }, 'ERR_KEX', 'kex'],
    ['a cipher that nobody has', { openssh: { options: { Ciphers: 'rot13' } } }, 'ERR_INVALID_OPTION', 'connect'],
    ['a private key that is not there', { identity: { path: '/nonexistent' } }, 'ERR_KEY_FORMAT', 'auth'],
    ['an agent that is not there', { identity: { agent: '/nonexistent' } }, 'ERR_AGENT', 'auth'],
    [
      'a password from a loader',
      { identity: { id: 'x', load: async () => ({ password: 's3cret' }) } },
      'ERR_UNSUPPORTED',
      'auth',
    ],
    ['a config file that is not there', { openssh: { configFile: '/nonexistent' } }, 'ERR_INVALID_OPTION', 'connect'],
  ] as const) {
    it(`for ${what} is ${code}, and leaves nothing`, async () => {
      await using bench = new Bench()
      const error = await refusal(bench.master({ ...sshd.target, ...more } as Target), code, phase)
      assert.doesNotMatch(`${error.message} ${error.stack}`, /s3cret|warren-\d+-/)
    })
  }

  it('at the wrong host says so, and not that the login failed there; nothing was signed for it', async () => {
    await using bench = new Bench()
    const target: Target = { ...sshd.target, user: 'nobody', hostKey: { pinned: FINGERPRINT } }
    const error = await refusal(bench.master(target), 'ERR_HOST_KEY', 'hostkey')
    assert.ok(error.message.includes(FINGERPRINT) && error.message.includes(sshd.fingerprint), 'both fingerprints')
    assert.doesNotMatch(sshd.log(), /Accepted publickey for nobody/)
  })

  it('where the banner never comes is ERR_OPEN_TIMEOUT, by ssh itself', async () => {
    await using bench = new Bench()
    await using tarpit = await startTarpit()
    await refusal(bench.master({ ...sshd.target, ...quick, host: tarpit.host, port: tarpit.port }), 'ERR_OPEN_TIMEOUT', 'banner')
  })

  for (const [what, greeting, code, phase] of [
    ['hangs up at once', '', 'ERR_RESET', 'banner'],
    ['is a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'ERR_RESET', 'banner'],
    ['talks without end', `${'x'.repeat(70_000)}\r\n`, 'ERR_PROTOCOL', 'banner'],
    ['speaks SSH 1', 'SSH-1.5-old\r\n', 'ERR_PROTOCOL', 'banner'],
  ] as const) {
    it(`where the other end ${what} is ${code}`, async () => {
      await using bench = new Bench()
      await using server = await startTcpServer((socket) => socket.end(greeting))
      await refusal(bench.master({ ...sshd.target, ...quick, port: server.port }), code, phase)
    })
  }

  it('that is given up is gone at once', async () => {
    await using bench = new Bench()
    await using tarpit = await startTarpit()
    const giveUp = new AbortController()
    const dialing = bench.master(
      { ...sshd.target, port: tarpit.port },
      { signal: giveUp.signal, enter: () => giveUp.abort(new Error('given up')) },
    )
    await assert.rejects(dialing, /given up/)
  })

  it('for want of an ssh is ERR_SSH_MISSING, with what to do', async () => {
    await using bench = new Bench()
    const error = await refusal(bench.master(sshd.target, { sshPath: '/nonexistent/ssh' }), 'ERR_SSH_MISSING')
    assert.match(error.message, /openssh-client.*ssh2/)
  })
})
