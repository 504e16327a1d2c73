import { onAbort } from '../aborts.ts'
import type { DialPlace } from '../limits/dial-limits.ts'
import type { Destination } from './destination.ts'
import type { Seeker } from './eviction.ts'
import { hopError } from './jump.ts'
import type { LeaseRecord } from './lease-record.ts'
import type { Parts } from './parts.ts'
import type { Tunnel } from './tunnel.ts'

/** Who wants a place to dial in. */
export interface Admittee {
  readonly isFailing: boolean
  /** The lease on the jump, which whoever gets the place takes over; without one it is given back here. */
  readonly jump: LeaseRecord | undefined
  /** Monotonic time since when somebody waits for it; `undefined`: as long as anybody does at its destination. */
  readonly since?: number | undefined
  /** Whether others are reached through it; `undefined`: whether any of those who wait at its destination is. */
  readonly isJump?: boolean | undefined
}

/** The jump is not lent any more, before a tunnel could be begun through it: another lease has to be taken. */
export class JumpGone extends Error {
  /** What befell it; `undefined`: it only makes way for its next generation, or for others. */
  readonly loss: unknown
  /** For the machine, which tells one from the other. */
  readonly jump: 'lost' | 'draining'

  constructor(loss: unknown) {
    super('the jump is not lent any more')
    this.loss = loss
    this.jump = loss === undefined ? 'draining' : 'lost'
  }
}

/** A signal that aborts with the given one, or when the jump is lost or drains, and what ends its watch. */
function whileLent(signal: AbortSignal, jump: LeaseRecord, behind: string): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  const gone = (loss: unknown) => controller.abort(new JumpGone(loss))
  const takeBack = [
    onAbort(signal, () => controller.abort(signal.reason)),
    onAbort(jump.ending, () => gone(jump.refusal && hopError(jump.refusal, jump.tunnel.target, behind))),
  ]
  jump.onDraining = () => gone(undefined)
  if (jump.refusal !== undefined) gone(hopError(jump.refusal, jump.tunnel.target, behind))
  else if (!jump.tunnel.isOpen) gone(undefined)
  const end = () => {
    for (const take of takeBack) take()
    jump.onDraining = undefined
  }
  return { signal: controller.signal, end }
}

/** Waits for room among the tunnels; what it holds meanwhile may have to make way for who is first in line. */
async function enterRoom({ room, stalled }: Parts, signal: AbortSignal, seeker: Seeker): Promise<void> {
  const { jump } = seeker
  if (jump === undefined) return await room.enter(signal, seeker)
  const count = (tunnel: Tunnel, change: number) => {
    const waiting = (stalled.get(tunnel) ?? 0) + change
    if (waiting === 0) stalled.delete(tunnel)
    else stalled.set(tunnel, waiting)
  }
  count(jump.tunnel, 1)
  try {
    await room.enter(signal, seeker)
  } finally {
    count(jump.tunnel, -1)
  }
}

/**
 * Waits for a place among the dials and one among the tunnels. While it waits it holds nothing but the lease on the jump, or those at the
 * limits would wait for each other: no place among the dials while it waits for room, which is somebody's to give back. Rejects with `JumpGone` when that is not lent any more.
 */
export async function enterPlace(
  { parts, target, lending }: Destination,
  signal: AbortSignal,
  { isFailing, jump, since = lending.since, isJump = lending.isJump }: Admittee,
): Promise<DialPlace> {
  const isSpawning = target.transport === 'openssh'
  const lent = jump && whileLent(signal, jump, target.id)
  const bound = lent?.signal ?? signal
  const request = { address: target.route, isFailing, isJump, isSpawning, signal: bound }
  try {
    const place = await parts.limits.enter(request)
    if (parts.room.tryEnter()) return place
    place.release()
    await enterRoom(parts, bound, { since, jump })
    try {
      return await parts.limits.enter(request)
    } catch (error) {
      parts.room.giveBack()
      throw error
    }
  } catch (error) {
    jump?.release(undefined)
    throw error
  } finally {
    lent?.end()
  }
}
