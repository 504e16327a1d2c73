const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The length-prefixed strings a key blob is made of (RFC 4253, 6.6); undefined unless they fill it exactly. */
function fieldsOf(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  let offset = 0
  while (offset < blob.length) {
    if (offset + 4 > blob.length) return undefined
    const end = offset + 4 + blob.readUInt32BE(offset)
    if (end > blob.length) return undefined
    fields.push(blob.subarray(offset + 4, end))
    offset = end
  }
  return fields
}

/** A public key line (`ssh-ed25519 AAAA… comment`) without its comment; undefined when it is none. */
export function parsePublicKey(line: string): string | undefined {
  const text = line.trim()
  const [type = '', body = ''] = text.split(/[ \t]+/, 2)
  if (/[\r\n]/.test(text) || !BASE64.test(body)) return undefined
  const fields = fieldsOf(Buffer.from(body, 'base64'))
  if (fields === undefined || fields.length < 2 || fields[0]?.toString('latin1') !== type) return undefined
  return `${type} ${body}`
}

/** A fingerprint as `ssh-keygen -l` shows it: 32 bytes in unpadded base64. */
export function isFingerprint(text: string): boolean {
  return /^SHA256:[A-Za-z0-9+/]{43}$/.test(text)
}
