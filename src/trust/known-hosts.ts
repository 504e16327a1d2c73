import type { TunnelError } from '../errors.ts'
import type { ResolvedTarget } from '../target.ts'
import { type Known, lookUp } from './known.ts'
import type { KnownHostsFile } from './known-hosts-file.ts'
import { changed, notKnown, notListed, revoked } from './refusal.ts'
import type { HostKeyExpectation } from './trust.ts'

/** Strict: only keys that known_hosts files list, which is decided before the host is dialled when they list none. */
export async function expectKnownHost(
  files: readonly KnownHostsFile[],
  target: ResolvedTarget,
  signal: AbortSignal,
): Promise<HostKeyExpectation> {
  const places = files.map(({ path }) => path)
  const known = await lookUp(files, target, signal)
  const algorithms = known.algorithms()
  if (algorithms.length === 0) throw notKnown(known, places)
  return {
    algorithms,
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
