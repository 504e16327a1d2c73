import { createHash } from 'node:crypto'

/** A public host key: its type by name, and all of it as SSH sends it. */
export interface HostKey {
  readonly type: string
  readonly blob: Buffer
}

/** A host key that is written down somewhere, and where: `/path:line`, or words. */
export interface KnownKey extends HostKey {
  readonly source: string
}

/**
 * By key type: fields after the type, and the signature algorithms to offer. Never `ssh-rsa` itself: that one signs with SHA-1.
 */
const TYPES = new Map<string, { fields: number; algorithms: readonly string[] }>([
  ['ssh-ed25519', { fields: 1, algorithms: ['ssh-ed25519'] }],
  ['ecdsa-sha2-nistp256', { fields: 2, algorithms: ['ecdsa-sha2-nistp256'] }],
  ['ecdsa-sha2-nistp384', { fields: 2, algorithms: ['ecdsa-sha2-nistp384'] }],
  ['ecdsa-sha2-nistp521', { fields: 2, algorithms: ['ecdsa-sha2-nistp521'] }],
  ['ssh-rsa', { fields: 2, algorithms: ['rsa-sha2-512', 'rsa-sha2-256'] }],
])
const TYPE_NAME = /^[a-z0-9][a-z0-9.@-]{0,63}$/i
const BASE64 = /^[a-z0-9+/]+={0,2}$/i

/** The key in these bytes, or `undefined` when they are not exactly one well-formed public key. */
export function readKey(blob: Buffer): HostKey | undefined {
  const fields = splitFields(blob)
  const type = fields?.[0]?.toString('latin1') ?? ''
  if (fields === undefined || fields.length < 2 || !TYPE_NAME.test(type)) return undefined
  const known = TYPES.get(type)
  return known === undefined || fields.length === known.fields + 1 ? { type, blob } : undefined
}

/** The key in `type base64`, as known_hosts and `.pub` files have it. */
export function readKeyText(type: string, base64: string): HostKey | undefined {
  const key = BASE64.test(base64) ? readKey(Buffer.from(base64, 'base64')) : undefined
  return key?.type === type ? key : undefined
}

/** `type base64`. */
export function keyText(key: HostKey): string {
  return `${key.type} ${key.blob.toString('base64')}`
}

/** As `ssh-keygen -lf` prints it: `SHA256:` and base64 without padding. */
export function fingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`
}

/** The algorithms a host can prove these keys with, best first; empty when none of them is one we use. */
export function algorithmsFor(keys: readonly HostKey[]): readonly string[] {
  const types = new Set(keys.map((key) => key.type))
  return [...TYPES].flatMap(([type, { algorithms }]) => (types.has(type) ? algorithms : []))
}

/** Length-prefixed strings that fill the bytes to the end. */
function splitFields(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  for (let at = 0; at < blob.length; ) {
    if (at + 4 > blob.length) return undefined
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length || fields.length > 8) return undefined
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}
