import { connect, type Socket } from 'node:net'
import { onAbort } from '../aborts.ts'
import { TunnelError } from '../errors.ts'
import { quietly } from '../wait.ts'
import type { Scope } from './scope.ts'
import { socketErrorCode } from './tcp.ts'

/** Short of descriptors, it is not the agent's fault. */
const codeOf = (error: Error) => (socketErrorCode(error) === 'ERR_LOCAL_LIMIT' ? 'ERR_LOCAL_LIMIT' : 'ERR_AGENT')

/** A connection to an SSH agent, in the scope of the dial that uses it. */
export interface AgentConnection {
  readonly socket: Socket
  close(): void
}

/** Connects to a running SSH agent. Rejects with `ERR_AGENT`, `ERR_LOCAL_LIMIT`, or the signal's reason. */
export function connectAgent(socketPath: string, scope: Scope, signal: AbortSignal): Promise<AgentConnection> {
  const connected = new Promise<AgentConnection>((resolve, reject) => {
    let socket: Socket | undefined
    const held = scope.hold('agent', `agent ${socketPath}`, { force: () => socket?.destroy() })
    const made = connect({ path: socketPath })
    socket = made
    const close = () => void made.destroy()
    const takeBack = onAbort(signal, close)
    made.on('connect', () => resolve({ socket: made, close }))
    made.on('error', (error) => {
      const advice = 'start one (ssh-agent) or name another identity'
      reject(
        new TunnelError(codeOf(error), `no SSH agent answers at ${socketPath}: ${error.message}; ${advice}`, {
          cause: error,
          phase: 'auth',
        }),
      )
    })
    made.once('close', () => {
      takeBack()
      held.strike()
      reject(
        signal.aborted
          ? signal.reason
          : new TunnelError('ERR_AGENT', `the SSH agent at ${socketPath} closed the connection`, { phase: 'auth' }),
      )
    })
  })
  quietly(connected)
  return connected
}
