import type { ResolvedHostKeyPolicy, ResolvedIdentity, ResolvedTarget } from '../target.ts'
import { fingerprint } from './fingerprint.ts'

const secretly = (kind: string, value: string | Uint8Array | undefined) => (value === undefined ? null : fingerprint(kind, value))

function nameOf(identity: ResolvedIdentity): readonly unknown[] {
  const { kind } = identity
  switch (kind) {
    case 'path':
      return [kind, identity.path, identity.certificate, secretly('passphrase', identity.passphrase?.reveal())]
    case 'key': {
      const { key, passphrase, certificate } = identity
      return [
        kind,
        secretly('key', key.reveal()),
        secretly('certificate', certificate),
        secretly('passphrase', passphrase?.reveal()),
      ]
    }
    case 'agent':
      return [kind, identity.socketPath, identity.publicKeys]
    case 'password':
      return [kind, secretly('password', identity.password.reveal())]
    case 'load':
      return [kind, identity.id]
    case 'ambient':
      return [kind]
  }
}

/** The order of pins means nothing. */
function nameOfPolicy(policy: ResolvedHostKeyPolicy): readonly unknown[] {
  const { kind } = policy
  if (kind === 'pinned') return [kind, [...policy.pins].sort()]
  return [kind, kind === 'known-hosts' ? policy.files : kind === 'accept-new' ? policy.file : null]
}

/** The canonical name of a connection: two targets share one exactly if it is equal. Each identity counts by name, never by secret; `connect` by its number, the jump by a digest of its own key. */
export function keyOf(target: Omit<ResolvedTarget, 'key' | 'id'>, connectNumber: number | undefined): string {
  const { host, port, user, identities, hostKey, hostKeyName, jump, openssh } = target
  const { transport, keepAliveIntervalMillis, keepAliveCountMax } = target
  return JSON.stringify([
    [host, port, user],
    identities.map(nameOf),
    [nameOfPolicy(hostKey), hostKeyName],
    [transport, keepAliveIntervalMillis, keepAliveCountMax, connectNumber],
    openssh === undefined ? null : [openssh.configFile, openssh.options],
    secretly('jump', jump?.key),
  ])
}
