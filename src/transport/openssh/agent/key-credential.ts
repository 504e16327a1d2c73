import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { ParsedKey } from 'ssh2'
import { mpint, string, WireReader } from '../wire.ts'
import type { Credential } from './credential.ts'

/** SSH_AGENT_RSA_SHA2_256 and _512 (RFC 8332 by way of draft-ietf-sshm-ssh-agent): without one, a client wants SHA-1, which is off here. */
const RSA_SHA2_256 = 2
const RSA_SHA2_512 = 4

const ECDSA_HASH: Readonly<Record<string, string>> = {
  'ecdsa-sha2-nistp256': 'sha256',
  'ecdsa-sha2-nistp384': 'sha384',
  'ecdsa-sha2-nistp521': 'sha512',
}

const signature = (format: string, bytes: Buffer): Buffer => Buffer.concat([string(format), string(bytes)])

function signWith(type: string, key: KeyObject, data: Buffer, flags: number): Buffer {
  const hash = ECDSA_HASH[type]
  if (hash !== undefined) {
    const pair = sign(hash, data, { key, dsaEncoding: 'ieee-p1363' })
    const half = pair.length / 2
    return signature(type, Buffer.concat([mpint(pair.subarray(0, half)), mpint(pair.subarray(half))]))
  }
  if (type === 'ssh-ed25519') return signature(type, sign(null, data, key))
  if (type === 'ssh-rsa' && (flags & RSA_SHA2_512) !== 0) return signature('rsa-sha2-512', sign('sha512', data, key))
  if (type === 'ssh-rsa' && (flags & RSA_SHA2_256) !== 0) return signature('rsa-sha2-256', sign('sha256', data, key))
  throw new Error(`a ${type} key does not sign this way`)
}

/** A private key that is held here: by itself, or for the certificate that is given with it. */
export function keyCredentials(parsed: ParsedKey, certificate: Buffer | undefined): Credential[] {
  const key = createPrivateKey(parsed.getPrivatePEM())
  const blob = parsed.getPublicSSH()
  const type = new WireReader(blob).text() ?? ''
  const make = (shown: Buffer): Credential => ({
    blob: shown,
    comment: type,
    sign: async (data, flags) => signWith(type, key, data, flags),
  })
  // As ssh itself does: the certificate first, then the bare key.
  return certificate === undefined ? [make(blob)] : [make(certificate), make(blob)]
}
