import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'

/** A key pair, and its public half as SSH sends and names it. */
export interface KeyPair {
  /** OpenSSH format, without a passphrase. */
  readonly private: string
  /** `ssh-ed25519 AAAA…` */
  readonly public: string
  readonly blob: Buffer
  /** `SHA256:…` */
  readonly fingerprint: string
}

const TYPE = 'ssh-ed25519'

/**
 * A new ed25519 key. Not by ssh2, whose generator (1.17) drops a public key's leading zero bytes: one key in 256 is refused by OpenSSH.
 */
export function makeKeyPair(): KeyPair {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
  const blob = Buffer.concat([string(TYPE), string(point)])
  return {
    private: openSshFormat(blob, seed, point),
    public: `${TYPE} ${blob.toString('base64')}`,
    blob,
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
  }
}

let client: KeyPair | undefined

/** The key that every host of every fleet in this process lets in. */
export function clientKeyPair(): KeyPair {
  client ??= makeKeyPair()
  return client
}

/** PROTOCOL.key of OpenSSH: one key, no cipher, padded to eight bytes by counting. */
function openSshFormat(blob: Buffer, seed: Buffer, point: Buffer): string {
  const check = randomBytes(4)
  const secret = [check, check, string(TYPE), string(point), string(Buffer.concat([seed, point])), string('')]
  const length = secret.reduce((sum, part) => sum + part.length, 0)
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, -length & 7))
  const none = [string('none'), string('none'), string(''), Buffer.from([0, 0, 0, 1])]
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...none,
    string(blob),
    string(Buffer.concat([...secret, padding])),
  ])
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

/** As SSH writes strings: the length, then the bytes. */
function string(value: string | Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(value.length)
  return Buffer.concat([length, Buffer.from(value)])
}
