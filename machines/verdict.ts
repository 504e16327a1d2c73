import type { DestinationEvent, DestinationTimes } from './events.ts'

/** What no retry mends: somebody has to change something first. */
const PERMANENT: ReadonlySet<string> = new Set(['ERR_HOST_KEY', 'ERR_KEY_FORMAT', 'ERR_SSH_MISSING', 'ERR_UNSUPPORTED'])
const AUTH_FAILURES = 3

/** Whether a failed dial bars its destination. Call it with the failures counted before this one. */
export function isPermanent(
  event: DestinationEvent,
  known: { authFailures: number; authIsOld: boolean; isBarred: boolean },
): boolean {
  if (!('code' in event) || event.code === undefined || event.wasOpen) return false
  if (known.isBarred || PERMANENT.has(event.code)) return true
  return event.code === 'ERR_AUTH' && known.authFailures + 1 >= AUTH_FAILURES && known.authIsOld
}

/** Exponential back-off with full jitter, ms. */
export function restAfter(failures: number, { backoffMinMillis, backoffMaxMillis }: DestinationTimes): number {
  return Math.random() * Math.min(backoffMaxMillis, backoffMinMillis * 2 ** Math.max(0, failures))
}
