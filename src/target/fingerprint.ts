let processKey: Buffer | undefined

/**
 * Tells secrets apart without being one: an HMAC under a random key that lives and ends with this process.
 * `kind` keeps apart equal values of different use.
 */
export function fingerprint(kind: string, value: string | Uint8Array): string {
  // Not imported: node:crypto adds 4 ms to the import of the package.
  const { createHmac, randomBytes } = process.getBuiltinModule('node:crypto')
  processKey ??= randomBytes(32)
  return createHmac('sha256', processKey).update(`${kind}\0`).update(value).digest('base64url')
}
