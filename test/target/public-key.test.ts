import assert from 'node:assert/strict'
import { isFingerprint, parsePublicKey } from '../../src/target/public-key.ts'
import { ECDSA, ED25519, FINGERPRINT } from './keys.ts'

const [, body = ''] = ED25519.split(' ')

describe('parsePublicKey', () => {
  for (const [what, line] of [
    ['bare', ED25519],
    ['with a comment of several words', `${ED25519} ops team, 2026`],
    ['as a file holds it', `${ED25519} me@here\n`],
    ['with more white space', `  ssh-ed25519 \t ${body}`],
  ] as const) {
    it(`reads a line ${what}`, () => assert.equal(parsePublicKey(line), ED25519))
  }
  it('reads other types', () => assert.equal(parsePublicKey(ECDSA), ECDSA))

  for (const [what, line] of [
    ['nothing', ''],
    ['a type alone', 'ssh-ed25519'],
    ['a body alone', body],
    ['another type than the body says', `ssh-rsa ${body}`],
    ['a cut body', `ssh-ed25519 ${body.slice(0, -8)}`],
    ['a longer body', `ssh-ed25519 ${body}AAAA`],
    ['a body that is not base64', `ssh-ed25519 ${body.slice(0, -1)}!`],
    ['a type and no key', `ssh-ed25519 ${Buffer.from('\0\0\0\x0bssh-ed25519').toString('base64')}`],
    ['two lines', `${ED25519}\n${ECDSA}`],
    ['two lines, the first with a comment', `${ED25519} me\n${ECDSA}`],
    ['a line of known_hosts', `host ${ED25519}`],
    ['options before it', `no-pty ${ED25519}`],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
  ] as const) {
    it(`refuses ${what}`, () => assert.equal(parsePublicKey(line), undefined))
  }
})

it('isFingerprint takes what ssh-keygen -l shows and nothing else', () => {
  assert.equal(isFingerprint(FINGERPRINT), true)
  for (const wrong of [
    `${FINGERPRINT}=`,
    FINGERPRINT.slice(0, -1),
    FINGERPRINT.slice(7),
    FINGERPRINT.replace('SHA256', 'MD5'),
    `${FINGERPRINT}\n`,
  ]) {
    assert.equal(isFingerprint(wrong), false, wrong)
  }
})
