import { TunnelError } from '../../errors.ts'
import type { ResolvedIdentity } from '../../target.ts'
import { loaded, usualKeyFiles } from '../loaded.ts'
import { privateKey } from '../private-key.ts'
import type { Dial } from '../transport.ts'
import { certificateFile, readCertificate } from './agent/certificate.ts'
import type { Credential } from './agent/credential.ts'
import { keyCredentials } from './agent/key-credential.ts'
import { agentCredentials } from './agent/real-agent.ts'

type Ssh2 = typeof import('ssh2')
type KeyIdentity = Extract<ResolvedIdentity, { kind: 'path' | 'key' }>

async function fromKey(ssh2: Ssh2, identity: KeyIdentity, signal: AbortSignal): Promise<Credential[]> {
  const key = await privateKey(ssh2, identity, signal)
  const { certificate } = identity
  if (certificate === undefined) return keyCredentials(key, undefined)
  const content = identity.kind === 'path' ? await certificateFile(certificate as string, signal) : certificate
  return keyCredentials(key, readCertificate(content, key.getPublicSSH()))
}

/** What OpenSSH would try by itself: of these none need be there, or usable. */
async function ambient(ssh2: Ssh2, dial: Dial): Promise<Credential[]> {
  const path = process.env.SSH_AUTH_SOCK
  const nothing = (): Credential[] => {
    dial.signal.throwIfAborted()
    return []
  }
  const agent = path === undefined || path === '' ? [] : await agentCredentials(path, undefined, dial).catch(nothing)
  const files = usualKeyFiles().map(async (file) => {
    const identity = { kind: 'path', path: file, passphrase: undefined, certificate: undefined } as const
    return await fromKey(ssh2, identity, dial.signal).catch(nothing)
  })
  return [...agent, ...(await Promise.all(files)).flat()]
}

async function credentialsOf(ssh2: Ssh2, identity: ResolvedIdentity, dial: Dial): Promise<Credential[]> {
  switch (identity.kind) {
    case 'path':
    case 'key':
      return await fromKey(ssh2, identity, dial.signal)
    case 'agent': {
      const path = identity.socketPath ?? process.env.SSH_AUTH_SOCK
      if (path === undefined || path === '')
        throw new TunnelError('ERR_AGENT', 'identity `agent: true` needs SSH_AUTH_SOCK, which is not set', { phase: 'auth' })
      return await agentCredentials(path, identity.publicKeys, dial)
    }
    case 'password':
      // Refused where the target is checked.
      return []
    case 'load':
      return await credentialsOf(ssh2, await loaded(identity, dial.signal), dial)
    case 'ambient':
      return await ambient(ssh2, dial)
  }
}

/** What the identities that are known beforehand have to offer. */
export type Prepared = ReadonlyMap<ResolvedIdentity, readonly Credential[]>

/** Reads and parses every key that is known beforehand, so that a bad one fails before ssh is started. Rejects with `ERR_KEY_FORMAT` or `ERR_LOCAL_LIMIT`. */
export async function prepareIdentities(ssh2: Ssh2, { target, signal }: Dial): Promise<Prepared> {
  const prepared = new Map<ResolvedIdentity, readonly Credential[]>()
  for (const identity of target.identities)
    if (identity.kind === 'path' || identity.kind === 'key') prepared.set(identity, await fromKey(ssh2, identity, signal))
  return prepared
}

/** Everything the target's identities have to offer, in their order and each key once. Rejects as the first of them does that is no use. */
export async function credentials(ssh2: Ssh2, dial: Dial, prepared: Prepared): Promise<readonly Credential[]> {
  const found = new Map<string, Credential>()
  for (const identity of dial.target.identities)
    for (const credential of prepared.get(identity) ?? (await credentialsOf(ssh2, identity, dial))) {
      const name = credential.blob.toString('base64')
      if (!found.has(name)) found.set(name, credential)
    }
  return [...found.values()]
}
