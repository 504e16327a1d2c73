import { readFile, stat } from 'node:fs/promises'
import type { ParsedKey } from 'ssh2'
import { TunnelError } from '../errors.ts'
import { socketErrorCode } from '../owners/tcp.ts'
import { shown } from '../shown.ts'
import type { ResolvedIdentity } from '../target.ts'

type KeyIdentity = Extract<ResolvedIdentity, { kind: 'path' | 'key' }>
type Ssh2 = typeof import('ssh2')

/** Decrypting a key costs a slow hash on the loop, so what is parsed is kept, by identity, until the file changes. */
const parsed = new WeakMap<KeyIdentity, { stamp: string; key: ParsedKey }>()

const formatError = (what: string, why: string, cause?: unknown) =>
  new TunnelError('ERR_KEY_FORMAT', `${what}: ${why}`, { ...(cause === undefined ? {} : { cause }), phase: 'auth' })

function parse(ssh2: Ssh2, what: string, content: string | Uint8Array, passphrase: string | undefined): ParsedKey {
  const found = ssh2.utils.parseKey(typeof content === 'string' ? content : Buffer.from(content), passphrase)
  if (found instanceof Error) {
    const isEncrypted = /encrypted|passphrase/i.test(found.message)
    const advice = isEncrypted
      ? passphrase === undefined
        ? 'it is encrypted: give `passphrase`, or use an agent'
        : 'its passphrase is wrong'
      : `${shown(found.message)}; a FIDO (sk-) key needs an agent and transport 'openssh'`
    // The library's own error could quote the key, so it is not passed on.
    throw formatError(what, advice)
  }
  const key = (Array.isArray(found) ? found[0] : found) as ParsedKey | undefined
  if (key === undefined || !key.isPrivateKey()) throw formatError(what, 'this is a public key; give the private one')
  return key
}

/** Reads and parses a private key. Rejects with `ERR_KEY_FORMAT` or `ERR_LOCAL_LIMIT`; what it says never quotes the key. */
export async function privateKey(ssh2: Ssh2, identity: KeyIdentity, signal: AbortSignal): Promise<ParsedKey> {
  const known = parsed.get(identity)
  if (identity.kind === 'key') {
    const key = known?.key ?? parse(ssh2, 'the private key given as `key`', identity.key.reveal(), identity.passphrase?.reveal())
    parsed.set(identity, { stamp: '', key })
    return key
  }
  const what = `private key ${shown(identity.path)}`
  try {
    const { mtimeMs, size, ino } = await stat(identity.path)
    const stamp = `${mtimeMs} ${size} ${ino}`
    if (known?.stamp === stamp) return known.key
    const key = parse(ssh2, what, await readFile(identity.path, { signal }), identity.passphrase?.reveal())
    parsed.set(identity, { stamp, key })
    return key
  } catch (error) {
    if (TunnelError.is(error)) throw error
    signal.throwIfAborted()
    if (socketErrorCode(error) === 'ERR_LOCAL_LIMIT')
      throw new TunnelError('ERR_LOCAL_LIMIT', `${what}: no descriptor is left to read it with`, { cause: error, phase: 'auth' })
    throw formatError(
      what,
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'there is no such file' : 'it cannot be read',
      error,
    )
  }
}
