import { onAbort } from './aborts.ts'
import type { LeaseRecord } from './actors/lease-record.ts'
import { abortedBy } from './actors/waiter.ts'
import type { Forwards } from './api/forward.ts'
import type { Lease } from './api/lease.ts'
import type { Claim } from './channels/forwards.ts'
import { TunnelError } from './errors.ts'
import { claimForward, UserLease } from './lease.ts'
import type { ResolvedAcquireOptions } from './options/acquire.ts'
import { remaining } from './wait.ts'

/** Makes what an acquire asked for beside its lease, until a monotonic time; a forward that fails takes back the whole acquire, and is named. */
export async function leaseWithForwards<F extends Forwards>(
  record: LeaseRecord,
  options: ResolvedAcquireOptions,
  until: number,
): Promise<Lease<F>> {
  const { clock } = record.tunnel.parts
  const deadline = new AbortController()
  const expire = () =>
    deadline.abort(new TunnelError('ERR_ACQUIRE_TIMEOUT', `no forward within ${options.timeoutMillis} ms`, { phase: 'forward' }))
  const timer = clock.setTimeout(expire, remaining(clock, until))
  const takeBack = onAbort(options.signal, () => deadline.abort(abortedBy(options.signal)))
  const claims = new Map<string, Claim>()
  let name = ''
  try {
    for (const [next, spec] of options.forwards) {
      name = next
      claims.set(name, await claimForward(record, spec, deadline.signal))
    }
    return new UserLease<F>(record, claims)
  } catch (cause) {
    record.release(undefined)
    if (deadline.signal.aborted) throw deadline.signal.reason
    if (!TunnelError.is(cause)) throw cause
    throw new TunnelError(cause.code, `forward \`${name}\`: ${cause.message}`, {
      cause,
      phase: cause.phase ?? 'forward',
      hop: cause.hop,
    })
  } finally {
    clock.clearTimeout(timer)
    takeBack()
  }
}
