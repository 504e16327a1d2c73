import type { Duplex } from 'node:stream'
import type { Held, Scope } from './scope.ts'

/** Takes over a stream that somebody else has made (a proxy, a jump); its entry is struck at its 'close'. */
export function adoptStream(stream: Duplex, label: string, scope: Scope): Held {
  const held = scope.hold('socket', label, { force: () => stream.destroy() })
  stream.on('error', () => {
    // Told through 'close', which follows; without a listener it would end the process.
  })
  // An idle tunnel does not hold the process.
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref()
  if (stream.closed) held.strike()
  else stream.once('close', () => held.strike())
  return held
}
