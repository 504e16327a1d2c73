import { lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'

const PROBE_MILLIS = 1_000

const isRefused = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (isDead: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isDead)
    }
    const timer = setTimeout(() => settle(false), PROBE_MILLIS)
    socket.once('connect', () => settle(false))
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code === 'ECONNREFUSED'))
  })

/** Removes a unix socket that a dead process has left: ours by uid, and nobody accepts on it. Anything else is left alone. Tells whether it is gone. */
export async function removeStaleSocket(path: string): Promise<boolean> {
  try {
    const found = lstatSync(path, { bigint: true })
    if (!found.isSocket() || found.uid !== BigInt(process.getuid?.() ?? -1) || !(await isRefused(path))) return false
    const { ino, ctimeNs } = lstatSync(path, { bigint: true })
    // A file system gives the number of a file that is gone to the next one: somebody else may have been here, and listen now.
    if (ino !== found.ino || ctimeNs !== found.ctimeNs) return false
    unlinkSync(path)
    return true
  } catch {
    // Gone already, or not ours to look at: listening on it says which.
    return false
  }
}
