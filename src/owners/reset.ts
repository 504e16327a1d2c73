import type { Socket } from 'node:net'

/** Cuts a peer off so that it cannot take the cut for an end of data: reset on TCP; on a unix socket its unread bytes make it one. */
export function reset(peer: Socket): void {
  // Node throws ERR_INVALID_HANDLE_TYPE for a unix socket; it waits with the reset of one that is not connected yet; and libuv does not reset
  // one whose end is under way, whose handle Node 20 then loses.
  const isEnding = peer.writableEnded && !peer.writableFinished
  if (peer.remoteAddress === undefined || isEnding) peer.destroy()
  else peer.resetAndDestroy()
}
