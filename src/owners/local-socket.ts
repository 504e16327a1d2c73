import { connect, type Socket } from 'node:net'
import { onAbort } from '../aborts.ts'
import type { Remote } from '../api/forward.ts'
import { TunnelError } from '../errors.ts'
import type { Scope } from './scope.ts'
import { connectTcp, socketErrorCode } from './tcp.ts'

/**
 * Connects to something on our side; half-open capable, held in the scope until its 'close'. Rejects with `ERR_DNS`, `ERR_REFUSED`, `ERR_UNREACHABLE`,
 * `ERR_RESET`, `ERR_LOCAL_LIMIT` or the signal's reason.
 */
export async function connectHere(to: Remote, scope: Scope, signal: AbortSignal): Promise<Socket> {
  if ('socketPath' in to) return await connectUnix(to.socketPath, scope, signal)
  const { port, host = '127.0.0.1' } = to
  const { socket } = await connectTcp({ host, port, scope, signal, allowHalfOpen: true })
  return socket
}

function connectUnix(path: string, scope: Scope, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    let socket: Socket | undefined
    const held = scope.hold('socket', `unix ${path}`, { force: () => socket?.destroy() })
    socket = connect({ path, allowHalfOpen: true }).unref()
    const made = socket
    const takeBack = onAbort(signal, () => made.destroy(signal.reason))
    made.on('error', (error) => {
      const code = socketErrorCode(error) ?? 'ERR_REFUSED'
      const failure = new TunnelError(code, `could not connect to ${path}: ${error.message}`, { cause: error, phase: 'connect' })
      reject(TunnelError.is(error) ? error : failure)
    })
    made.once('close', () => {
      takeBack()
      held.strike()
      reject(new TunnelError('ERR_RESET', `the connection to ${path} was closed before it was open`, { phase: 'connect' }))
    })
    made.once('connect', () => {
      takeBack()
      resolve(made)
    })
  })
}
