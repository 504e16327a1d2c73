import { homedir } from 'node:os'
import { join } from 'node:path'
import { TunnelError } from '../errors.ts'
import { shown } from '../shown.ts'
import type { ResolvedIdentity, StaticResolvedIdentity } from '../target.ts'
import { unlessAborted } from '../wait.ts'

/** The key files that OpenSSH would try by itself. */
export const usualKeyFiles = (): string[] => ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => join(homedir(), '.ssh', name))

/** Asks a target's loader. Rejects with `ERR_AGENT`, with what the loader rejects with when that is a TunnelError, or as the signal aborted. */
export async function loaded(
  identity: Extract<ResolvedIdentity, { kind: 'load' }>,
  signal: AbortSignal,
): Promise<StaticResolvedIdentity> {
  try {
    return await unlessAborted(identity.load(signal), signal)
  } catch (error) {
    signal.throwIfAborted()
    if (TunnelError.is(error)) throw error
    throw new TunnelError('ERR_AGENT', `the loader of identity ${shown(identity.id)} failed`, { cause: error, phase: 'auth' })
  }
}
