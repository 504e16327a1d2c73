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

const verified = new WeakMap<Destination, { provenAt: number; date: Date }>()

/** The wall time of a proof; the same for as long as there is none that is newer. */
function verifiedAt(destination: Destination, provenAt: number): Date | undefined {
  if (!Number.isFinite(provenAt)) return undefined
  const known = verified.get(destination)
  if (known?.provenAt === provenAt) return new Date(known.date)
  const { clock } = destination.parts
  const date = new Date(clock.date().getTime() - (clock.now() - provenAt))
  verified.set(destination, { provenAt, date })
  return new Date(date)
}

/** What is known of a destination now; asks nobody. */
export function healthOf(destination: Destination): Health {
  const { current, resting, lastProvenAt, tunnels, jumping } = destination
  // What keeps its jump from being dialled keeps it from being dialled.
  const blocker = destination.state === 'dormant' || destination.state === 'dialing' ? jumping?.blocker : undefined
  const state = (blocker ?? destination).state as Health['state']
  const provenAt = Math.max(lastProvenAt, ...[...tunnels.values()].map((tunnel) => tunnel.provenAt))
  return {
    state,
    lastVerifiedAt: verifiedAt(destination, provenAt),
    failures: destination.known?.failures ?? 0,
    retryAt: state === 'resting' || state === 'barred' ? (blocker?.resting ?? resting).retryAt : undefined,
    cause: resting.cause,
    remoteAddress: current?.remoteAddress,
  }
}
