import type { Clock } from '../clock.ts'

/** What keeps asking whether the other end is there. */
export interface KeepAlive {
  readonly clock: Clock
  /** Between two questions to a silent server, ms; 0 or Infinity: never asks. */
  readonly intervalMillis: number
  /** Questions that may stay without an answer. */
  readonly countMax: number
  /** Monotonic time of the last bytes received: a server that talks is not asked. */
  readonly provenAt: () => number
  /** Whether reading is paused by ourselves, so that silence proves nothing. */
  readonly isPaused: () => boolean
  readonly ask: () => void
  readonly dead: () => void
}

/**
 * Asks a silent server every interval and calls `dead` after interval × (count + 1) of silence, the same for both transports. After a gap
 * (a blocked loop, a stopped process, a suspended machine) it counts anew: silence that we slept through proves nothing. Returns how to stop.
 */
export function keepAlive({ clock, intervalMillis, countMax, provenAt, isPaused, ask, dead }: KeepAlive): () => void {
  if (intervalMillis === 0 || intervalMillis === Number.POSITIVE_INFINITY) return () => {}
  let unanswered = 0
  let askedAt = 0
  let timer: unknown
  let due = 0
  let bootLead = clock.boot() - clock.now()
  const arm = (millis: number) => {
    due = clock.now() + millis
    timer = clock.setTimeout(tick, millis)
  }
  const tick = () => {
    const lead = clock.boot() - clock.now()
    const slept = Math.max(clock.now() - due, lead - bootLead)
    bootLead = lead
    if (slept > 2 * intervalMillis || isPaused() || provenAt() >= askedAt) unanswered = 0
    const quiet = clock.now() - provenAt()
    if (quiet < intervalMillis) return arm(intervalMillis - quiet)
    if (unanswered >= countMax) return dead()
    unanswered += 1
    askedAt = clock.now()
    ask()
    arm(intervalMillis)
  }
  arm(intervalMillis)
  return () => clock.clearTimeout(timer)
}
