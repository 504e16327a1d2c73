import { createHash } from 'node:crypto'
import ssh2 from 'ssh2'

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

/** A new ed25519 key; 0.2 ms. */
export function makeKeyPair(): KeyPair {
  const pair = ssh2.utils.generateKeyPairSync('ed25519')
  const blob = Buffer.from(pair.public.split(' ')[1] ?? '', 'base64')
  const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')
  return { private: pair.private, public: pair.public, blob, fingerprint: `SHA256:${digest}` }
}

let client: KeyPair | undefined

/** The key that every host of every fleet in this process lets in. */
export function clientKeyPair(): KeyPair {
  client ??= makeKeyPair()
  return client
}
