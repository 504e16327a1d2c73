import { TunnelError } from '../../errors.ts'
import type { Sweeping } from './ask-owner.ts'

/** Waits without holding the process; rejects with the signal's reason, or `ERR_ABORTED` when the scope is released meanwhile. */
export function pause(millis: number, { clock, signal, scope }: Sweeping): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      held.strike()
      settle()
    }
    const abort = (): void => end(() => reject(signal.reason))
    const force = (): void => end(() => reject(new TunnelError('ERR_ABORTED', 'the pool was closed during the sweep')))
    const held = scope.hold('timer', 'pause of a sweep', { force })
    const timer = clock.setTimeout(() => end(resolve), millis)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
}
