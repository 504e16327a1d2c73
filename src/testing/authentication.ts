import ssh2, { type AuthContext, type ParsedKey } from 'ssh2'
import { clientKeyPair } from './keys.ts'

let parsed: ParsedKey | undefined

/** Lets in whoever proves to hold the fleet's client key, under any name; everybody else is told that only a key helps. */
export function authenticate(context: AuthContext): void {
  if (isProven(context)) context.accept()
  else reject(context)
}

/** Turns everybody away, as a server does whose authorized_keys has lost the key. */
export function reject(context: AuthContext): void {
  context.reject(['publickey'])
}

function isProven(context: AuthContext): boolean {
  if (context.method !== 'publickey' || !context.key.data.equals(clientKeyPair().blob)) return false
  // Without a signature the client only asks whether the key would do.
  return context.signature === undefined || clientKey().verify(context.blob ?? '', context.signature, context.hashAlgo) === true
}

function clientKey(): ParsedKey {
  if (parsed !== undefined) return parsed
  const key = ssh2.utils.parseKey(clientKeyPair().public)
  if (key instanceof Error) throw key
  parsed = key
  return key
}
