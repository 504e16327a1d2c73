import type { Server } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

/** Ends a listener; resolves when it and all it has accepted are gone, for the kernel and for Node. */
export async function closeServer(server: Server): Promise<void> {
  // One that never listened says so, and is as gone as can be.
  await new Promise<void>((resolve) => server.close(() => resolve()))
  // libuv forgets closed handles at the end of a turn, after the immediates.
  await turn()
  await turn()
}
