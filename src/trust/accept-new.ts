import type { ResolvedTarget } from '../target.ts'
import { algorithmsFor, type HostKey, readKey } from './key.ts'
import type { Known } from './known.ts'
import { objection } from './known-hosts.ts'
import { notReadable, noUse } from './refusal.ts'
import type { HostKeyExpectation } from './trust.ts'

/** Where the keys of hosts that are met for the first time are kept. */
export interface Acquaintances {
  lookUp(target: ResolvedTarget, signal: AbortSignal): Promise<Known>
  /**
   * Adds the host's key, unless one is known by now: resolves when it is this one, rejects with `ERR_HOST_KEY` when it is
   * another.
   */
  add(target: ResolvedTarget, key: HostKey, signal: AbortSignal): Promise<void>
}

/**
 * Takes the first key a host shows, and from then on none but that. As in OpenSSH, a key of another type is a changed key, too:
 * whoever comes between could always show one of a type that is not known yet.
 */
export async function expectAcquaintance(
  kept: Acquaintances,
  target: ResolvedTarget,
  signal: AbortSignal,
): Promise<HostKeyExpectation> {
  const known = await kept.lookUp(target, signal)
  const algorithms = known.keys.length > 0 ? known.algorithms() : undefined
  const hopeless = algorithms?.length === 0 ? noUse(known) : undefined
  if (hopeless !== undefined) throw hopeless
  return {
    algorithms,
    async verify(shown, verifySignal) {
      verifySignal.throwIfAborted()
      const error = objection(known, shown)
      if (error !== undefined) throw error
      if (known.judge(shown) === 'known') return
      const key = readKey(Buffer.from(shown))
      if (key === undefined || algorithmsFor([key]).length === 0) throw notReadable(target.hostKeyName, shown)
      await kept.add(target, key, verifySignal)
    },
  }
}
