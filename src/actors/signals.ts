import type { TunnelPool } from '../api/pool.ts'

/** Ends that signals have begun, over all pools of the process: the last one to end raises the signal again, so that no other is cut short. */
let endings = 0

/** Closes a pool on the signals its user has named, then raises the signal again as if nobody had listened; a second one destroys at once. Returns how to stop listening. */
export function closeOnSignals(signals: readonly NodeJS.Signals[], pool: TunnelPool): () => void {
  if (signals.length === 0) return () => {}
  let isClosing = false
  const stop = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  const end = async (signal: NodeJS.Signals, ending: Promise<void>): Promise<void> => {
    endings += 1
    try {
      await ending
    } catch {
      // Something will not die: the process's end is what is left to try.
    }
    stop()
    endings -= 1
    if (endings === 0) process.kill(process.pid, signal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    const ending = isClosing ? pool.destroy(new Error(`received ${signal} again`)) : pool.close()
    isClosing = true
    void end(signal, ending)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return stop
}
