import { string, WireReader } from '../wire.ts'

/** Fields of a public key after its type. */
const FIELDS: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ssh-rsa': 2,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
  'sk-ssh-ed25519@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256@openssh.com': 3,
}
const CERTIFICATE = /^(.+)-cert-v01@openssh\.com$/

/** The bare public key in a certificate (PROTOCOL.certkeys of OpenSSH: type, nonce, then the key's own fields); of anything else, itself. */
export function bareKey(blob: Buffer): Buffer {
  const reader = new WireReader(blob)
  const [, name] = CERTIFICATE.exec(reader.text() ?? '') ?? []
  if (name === undefined) return blob
  const type = name.startsWith('sk-') ? `${name}@openssh.com` : name
  reader.string()
  const fields = Array.from({ length: FIELDS[type] ?? 0 }, () => reader.string())
  if (fields.length === 0 || fields.includes(undefined)) return blob
  return Buffer.concat([string(type), ...fields.map((field) => string(field as Buffer))])
}
