import { generateKeyPairSync } from 'node:crypto'
import ssh2 from 'ssh2'

/** Type and point, each with its length (RFC 8709, section 4). */
const ED25519_BYTES = 51

/** A key to log in with, as OpenSSH writes it. */
export interface UserKey {
  readonly private: string
  /** `type base64` */
  readonly public: string
}

/** A new key; with a passphrase its private half is encrypted by it. */
export function makeUserKey(type: 'ed25519' | 'ecdsa' | 'rsa', passphrase?: string): UserKey {
  const bits = type === 'rsa' ? { bits: 2048 } : type === 'ecdsa' ? { bits: 256 } : {}
  const encryption = passphrase === undefined ? {} : { passphrase, cipher: 'aes256-ctr', rounds: 4 }
  for (;;) {
    // biome-ignore lint/suspicious/noExplicitAny: ssh2's types want the options of each type apart
    const made: UserKey = ssh2.utils.generateKeyPairSync(type as any, { ...bits, ...encryption } as any)
    // ssh2 1.17 drops leading zeros of an ed25519 key: one in 256 is none to OpenSSH.
    const bytes = Buffer.from(made.public.split(' ')[1] ?? '', 'base64').length
    if (type !== 'ed25519' || bytes === ED25519_BYTES) return made
  }
}

/** An RSA key in the old PEM format. */
export function makePemKey(passphrase?: string): UserKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const plain = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const parsed = ssh2.utils.parseKey(plain)
  if (parsed instanceof Error) throw parsed
  const encrypted = passphrase === undefined ? {} : { cipher: 'aes-128-cbc', passphrase }
  return {
    private: privateKey.export({ type: 'pkcs1', format: 'pem', ...encrypted }).toString(),
    public: `ssh-rsa ${parsed.getPublicSSH().toString('base64')}`,
  }
}
