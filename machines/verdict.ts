import type { DestinationEvent, DestinationTimes } from './events.ts'

/** What no retry mends: somebody has to change something first. */
const PERMANENT: ReadonlySet<string> = new Set(['ERR_HOST_KEY', 'ERR_KEY_FORMAT', 'ERR_SSH_MISSING', 'ERR_UNSUPPORTED'])
const AUTH_FAILURES = 3

/** Whether a tunnel's end is the failure of a dial, and the destination's own. */
export const hasFailed = (event: DestinationEvent): boolean =>
  'wasOpen' in event && !event.wasOpen && event.code !== undefined && event.isJumps !== true

/** Whether a failed dial bars its destination. Call it with the failures counted before this one. */
export function isPermanent(
  event: DestinationEvent,
  known: { authFailures: number; authIsOld: boolean; isBarred: boolean },
): boolean {
  if (!('code' in event) || event.code === undefined || !hasFailed(event)) return false
  if (known.isBarred || PERMANENT.has(event.code)) return true
  return event.code === 'ERR_AUTH' && known.authFailures + 1 >= AUTH_FAILURES && known.authIsOld
}

/** Above this a doubling means nothing any more, and 0 × Infinity would be no number. */
const MOST_DOUBLINGS = 40

/** Exponential back-off with full jitter, ms: after the first failure up to the least, doubling from then on. */
export function restAfter(failures: number, { backoffMinMillis, backoffMaxMillis }: DestinationTimes): number {
  const longest = Math.min(backoffMaxMillis, backoffMinMillis * 2 ** Math.min(MOST_DOUBLINGS, Math.max(0, failures - 1)))
  return Number.isFinite(longest) ? Math.random() * longest : longest
}
