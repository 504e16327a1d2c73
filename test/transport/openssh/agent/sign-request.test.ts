import assert from 'node:assert/strict'
import fc from 'fast-check'
import { loginKey, readSignRequest } from '../../../../src/transport/openssh/agent/sign-request.ts'
import { string, uint32 } from '../../../../src/transport/openssh/wire.ts'

const keyBlob = Buffer.concat([string('ssh-ed25519'), string(Buffer.alloc(32, 1))])
const hostKey = Buffer.concat([string('ssh-ed25519'), string(Buffer.alloc(32, 2))])

interface Said {
  session: Buffer
  type: number
  user: string
  service: string
  method: string
  hasSignature: number
  key: Buffer
  host: Buffer | undefined
  more: Buffer
}
const login: Said = {
  session: Buffer.alloc(32, 9),
  type: 50,
  user: 'ops',
  service: 'ssh-connection',
  method: 'publickey',
  hasSignature: 1,
  key: keyBlob,
  host: undefined,
  more: Buffer.alloc(0),
}
const bound: Said = { ...login, method: 'publickey-hostbound-v00@openssh.com', host: hostKey }

const blobOf = (said: Said): Buffer =>
  Buffer.concat([
    string(said.session),
    Buffer.from([said.type]),
    string(said.user),
    string(said.service),
    string(said.method),
    Buffer.from([said.hasSignature]),
    string('ssh-ed25519'),
    string(said.key),
    ...(said.host === undefined ? [] : [string(said.host)]),
    said.more,
  ])
const isLogin = (...given: Parameters<typeof loginKey>) => loginKey(...given) !== undefined
const isSigned = (said: Said) => isLogin({ keyBlob, data: blobOf(said), flags: 0 }, 'ops', hostKey)

describe('what the login agent signs', () => {
  it('is a login of this user with this key', () => assert.ok(isSigned(login)))
  it('is the same bound to the key of this host', () => assert.ok(isSigned(bound)))

  const others: ReadonlyArray<[string, Said]> = [
    ['another user', { ...login, user: 'root' }],
    ['another service', { ...login, service: 'ssh-userauth' }],
    ['another method', { ...login, method: 'hostbased' }],
    ['a request without a signature', { ...login, hasSignature: 0 }],
    ['another key than is asked to sign', { ...login, key: hostKey }],
    ['another message', { ...login, type: 90 }],
    ['no session', { ...login, session: Buffer.alloc(0) }],
    ['something behind it', { ...login, more: Buffer.from([0]) }],
    ['another host', { ...bound, host: keyBlob }],
    ['no host where one belongs', { ...bound, host: undefined }],
  ]
  for (const [what, said] of others) it(`is not ${what}`, () => assert.equal(isSigned(said), false))

  it('is not a file or a commit (SSHSIG), nor any other bytes', () => {
    const sshsig = Buffer.concat([Buffer.from('SSHSIG'), string('git'), string(''), string('sha512'), string(Buffer.alloc(64))])
    assert.equal(isLogin({ keyBlob, data: sshsig, flags: 0 }, 'ops', hostKey), false)
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        (bytes) => !isLogin({ keyBlob, data: Buffer.from(bytes), flags: 0 }, 'ops', hostKey),
      ),
    )
  })

  it('is a login by the certificate of this key, and not by that of another', () => {
    const certificate = (point: Buffer) =>
      Buffer.concat([string('ssh-ed25519-cert-v01@openssh.com'), string('nonce'), string(point), string('and so on')])
    assert.ok(isSigned({ ...login, key: certificate(Buffer.alloc(32, 1)) }))
    assert.equal(isSigned({ ...login, key: certificate(Buffer.alloc(32, 2)) }), false)
  })

  it('is not a login that was cut off or changed in any one byte that matters', () => {
    const whole = blobOf(bound)
    for (let end = 0; end < whole.length; end += 1)
      assert.equal(isLogin({ keyBlob, data: whole.subarray(0, end), flags: 0 }, 'ops', hostKey), false)
  })

  it('reads a request only when it is exactly one', () => {
    const body = Buffer.concat([string(keyBlob), string('data'), uint32(4)])
    assert.deepEqual(readSignRequest(body)?.flags, 4)
    assert.equal(readSignRequest(Buffer.concat([body, Buffer.from([0])])), undefined)
    assert.equal(readSignRequest(body.subarray(0, -1)), undefined)
  })
})
