import type { Socket } from 'node:net'

/**
 * Ends a connection by RST, at once. Where there is nothing to reset yet, or an end is still under way, which libuv does not reset
 * (Node 20 would then lose the handle), it is merely closed.
 */
export function reset(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished
  if (socket.connecting || isEnding) socket.destroy()
  else socket.resetAndDestroy()
}
