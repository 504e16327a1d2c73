import type { Health } from '../api/report.ts'
import type { Destination } from './destination.ts'

/** What is known of a target that nobody has asked for yet. */
export const UNKNOWN: Health = Object.freeze({
  state: 'unknown',
  lastVerifiedAt: undefined,
  failures: 0,
  retryAt: undefined,
  cause: undefined,
  remoteAddress: undefined,
})

/** What is known of a destination now; asks nobody. */
export function healthOf(destination: Destination): Health {
  const { current, parts, resting, lastProvenAt, tunnels } = destination
  const state = destination.state as Health['state']
  const provenAt = Math.max(lastProvenAt, ...[...tunnels.values()].map((tunnel) => tunnel.provenAt))
  const { clock } = parts
  return {
    state,
    lastVerifiedAt: Number.isFinite(provenAt) ? new Date(clock.date().getTime() - (clock.now() - provenAt)) : undefined,
    failures: destination.known?.failures ?? 0,
    retryAt: state === 'resting' || state === 'barred' ? resting.retryAt : undefined,
    cause: resting.cause,
    remoteAddress: current?.remoteAddress,
  }
}
