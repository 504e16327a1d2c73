import type { TunnelError } from '../errors.ts'
import type { ResolvedTarget } from '../target.ts'
import { type Known, lookUp } from './known.ts'
import type { KnownHostsFile } from './known-hosts-file.ts'
import { changed, notListed, noUse, revoked } from './refusal.ts'
import type { HostKeyExpectation } from './trust.ts'

/**
 * Strict: only keys that known_hosts files list. When they list none the host is asked for its key all the same, so that the
 * refusal can name the fingerprint that whoever reads it has to compare; when all they list is revoked or of no use, it is not
 * even dialled.
 */
export async function expectKnownHost(
  files: readonly KnownHostsFile[],
  target: ResolvedTarget,
  signal: AbortSignal,
): Promise<HostKeyExpectation> {
  const places = files.map(({ path }) => path)
  const known = await lookUp(files, target, signal)
  const algorithms = known.algorithms()
  const hopeless = algorithms.length === 0 ? noUse(known) : undefined
  if (hopeless !== undefined) throw hopeless
  return {
    algorithms: algorithms.length === 0 ? undefined : algorithms,
    async verify(key, verifySignal) {
      verifySignal.throwIfAborted()
      const error = objection(known, key) ?? (known.judge(key) === 'unknown' ? notListed(known, key, places) : undefined)
      if (error !== undefined) throw error
    },
  }
}

/** Why this key is refused under every policy that looks keys up; `undefined` when it is known, or unknown. */
export function objection(known: Known, shown: Buffer): TunnelError | undefined {
  const verdict = known.judge(shown)
  if (verdict === 'revoked') return revoked(known, shown)
  return verdict === 'changed' ? changed(known, shown) : undefined
}
