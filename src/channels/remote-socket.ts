import type { Remote } from '../api/forward.ts'
import { TunnelError } from '../errors.ts'
import type { Bounds, Connection } from '../transport/transport.ts'

const WILDCARDS: ReadonlySet<string | undefined> = new Set(['0.0.0.0', '::', '*', ''])
/** POSIX: nothing is special between single quotes. */
const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`

/** Whether somebody accepts there, as seen from the server. Port 0 is never taken. */
export async function occupied(remote: Remote, connection: Connection, bounds: Bounds): Promise<boolean> {
  if ('port' in remote && remote.port === 0) return false
  const to = 'port' in remote && WILDCARDS.has(remote.host) ? { port: remote.port, host: '127.0.0.1' } : remote
  try {
    const channel = await connection.openChannel(to, bounds)
    channel.resume()
    channel.destroy()
    return true
  } catch {
    if (connection.error !== undefined) throw connection.error
    return false
  }
}

/**
 * Removes a unix socket on the server that nobody accepts on: sshd leaves the file of every reverse forward behind, and does not listen where one
 * is. Needs a shell there; tells whether one was removed. Never rejects.
 */
export async function removeDeadSocket(path: string, connection: Connection, bounds: Bounds): Promise<boolean> {
  try {
    const isDead = await connection.openChannel({ socketPath: path }, bounds).then(
      (channel) => {
        channel.resume()
        channel.destroy()
        return false
      },
      // Anything but the system's refusal proves nothing: it may be forbidden to look.
      (error) => TunnelError.is(error) && error.code === 'ERR_CHANNEL_REFUSED',
    )
    if (!isDead) return false
    const name = quoted(path)
    const command = `[ -S ${name} ] && [ -O ${name} ] && rm -f -- ${name}`
    const { exitCode } = await connection.exec(command, { ...bounds, input: undefined, maxOutputBytes: 4_096 })
    return exitCode === 0
  } catch {
    // No shell, or no connection any more: what stands there stays, and is tried again before the next one listens.
    return false
  }
}
