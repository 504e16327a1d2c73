import type { DialPlace } from '../limits/dial-limits.ts'
import type { Destination } from './destination.ts'
import { JumpLost } from './jumping.ts'
import type { LeaseRecord } from './lease-record.ts'

/** Who wants a place to dial in. */
export interface Admittee {
  readonly isFailing: boolean
  /** The lease on the jump, which whoever gets the place takes over; without one it is given back here. */
  readonly jump: LeaseRecord | undefined
}

/**
 * Waits for a place among the dials and one among the tunnels. While it waits it holds nothing but the lease on the jump, or those at the
 * limits would wait for each other. Rejects with `JumpLost` when that is lost meanwhile.
 */
export async function enterPlace(
  { parts, target, lending }: Destination,
  signal: AbortSignal,
  { isFailing, jump }: Admittee,
): Promise<DialPlace> {
  const isSpawning = target.transport === 'openssh'
  const bound = jump === undefined ? signal : AbortSignal.any([signal, jump.ending])
  let place: DialPlace | undefined
  try {
    place = await parts.limits.enter({ address: target.route, isFailing, isJump: lending.isJump, isSpawning, signal: bound })
    await parts.room.enter(bound)
    return place
  } catch (error) {
    place?.release()
    const isLost = !signal.aborted && jump?.refusal !== undefined
    jump?.release(undefined)
    throw isLost ? new JumpLost('the jump was lost') : error
  }
}
