import { WireReader } from '../wire.ts'
import { bareKey } from './public-key.ts'

/** SSH_MSG_USERAUTH_REQUEST, RFC 4252. */
const USERAUTH_REQUEST = 50

/** A request of an agent's client to sign something (SSH_AGENTC_SIGN_REQUEST, the type byte already read). */
export interface SignRequest {
  readonly keyBlob: Buffer
  readonly data: Buffer
  readonly flags: number
}

/** The request in these bytes; `undefined` when they are not exactly one. */
export function readSignRequest(body: Buffer): SignRequest | undefined {
  const reader = new WireReader(body)
  const [keyBlob, data, flags] = [reader.string(), reader.string(), reader.uint32()]
  if (keyBlob === undefined || data === undefined || flags === undefined || !reader.isAtEnd) return undefined
  return { keyBlob, data, flags }
}

/**
 * The key with which this user is to be logged in, when that is what is to be signed (RFC 4252, section 7; with the host's key, as OpenSSH's
 * `publickey-hostbound-v00@openssh.com` has it, only for this host key) and signing it is up to the key that is asked. ssh asks a bare key to
 * sign for its certificate. `undefined` for anything else that a key may be used for.
 */
export function loginKey({ keyBlob, data }: SignRequest, user: string, hostKey: Buffer): Buffer | undefined {
  const reader = new WireReader(data)
  const sessionId = reader.string()
  if (sessionId === undefined || sessionId.length < 20 || sessionId.length > 64) return undefined
  if (reader.byte() !== USERAUTH_REQUEST || reader.text() !== user || reader.text() !== 'ssh-connection') return undefined
  const method = reader.text()
  const isBound = method === 'publickey-hostbound-v00@openssh.com'
  if ((method !== 'publickey' && !isBound) || reader.byte() !== 1) return undefined
  const [algorithm, key] = [reader.text(), reader.string()]
  if (algorithm === undefined || algorithm === '' || key === undefined) return undefined
  if (isBound && reader.string()?.equals(hostKey) !== true) return undefined
  return reader.isAtEnd && bareKey(key).equals(bareKey(keyBlob)) ? key : undefined
}
