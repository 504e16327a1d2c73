import type { DestinationTimes, TunnelTimes } from '../../machines/events.ts'
import type { ResolvedPoolOptions } from '../options.ts'

/** What every tunnel's machine knows of the options: one object per pool, times only. */
export function tunnelTimes(options: ResolvedPoolOptions): TunnelTimes {
  const { openTimeoutMillis, idleTimeoutMillis, drainTimeoutMillis, closeGraceMillis } = options
  return Object.freeze({
    openTimeoutMillis,
    idleTimeoutMillis,
    probeTimeoutMillis: options.channelTimeoutMillis,
    drainTimeoutMillis,
    closeGraceMillis,
  })
}

/** What one destination's machine knows of them: its tunnels' lifetime is spread by ± 10 %, so that what was opened together does not end together. */
export function destinationTimes(options: ResolvedPoolOptions): DestinationTimes {
  const { backoffMinMillis, backoffMaxMillis, barredRetryMillis, maxLifetimeMillis } = options
  return {
    backoffMinMillis,
    backoffMaxMillis,
    barredRetryMillis,
    maxLifetimeMillis: maxLifetimeMillis * (0.9 + Math.random() * 0.2),
  }
}
