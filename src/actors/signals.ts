import type { TunnelPool } from '../api/pool.ts'

/** Closes a pool on the signals its user has named, then raises the signal again as if nobody had listened; a second one destroys at once. Returns how to stop listening. */
export function closeOnSignals(signals: readonly NodeJS.Signals[], pool: TunnelPool): () => void {
  if (signals.length === 0) return () => {}
  let isClosing = false
  const stop = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    try {
      await (isClosing ? pool.destroy(new Error(`received ${signal} again`)) : pool.close())
    } catch {
      // Something will not die: the process's end is what is left to try.
    }
    stop()
    process.kill(process.pid, signal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    const isSecond = isClosing
    const ending = end(signal)
    isClosing = true
    return isSecond ? undefined : void ending
  }
  for (const signal of signals) process.on(signal, onSignal)
  return stop
}
