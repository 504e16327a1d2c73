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
    const { ino, uid, isSocket } = statOf(path)
    if (!isSocket || uid !== process.getuid?.() || !(await isRefused(path))) return false
    if (statOf(path).ino !== ino) return false
    unlinkSync(path)
    return true
  } catch {
    // Gone already, or not ours to look at: listening on it says which.
    return false
  }
}

function statOf(path: string): { ino: number; uid: number; isSocket: boolean } {
  const found = lstatSync(path)
  return { ino: found.ino, uid: found.uid, isSocket: found.isSocket() }
}
