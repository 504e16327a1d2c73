import type { Socket } from 'node:net'
import type { Remote } from '../../api/forward.ts'
import { TunnelError } from '../../errors.ts'
import { ownListener } from '../../owners/listener.ts'
import { remoteName } from '../../remote.ts'
import { shown } from '../../shown.ts'
import type { ConnectionLife } from '../life.ts'
import type { Arrival, Bounds, Dial, ReverseListener } from '../transport.ts'
import { askMaster } from './mux/control.ts'
import type { End } from './mux/messages.ts'

/** Of whom it is asked. */
export interface Asked {
  readonly dial: Dial
  readonly controlPath: string
  readonly life: ConnectionLife
}

const endOf = (remote: Remote): End =>
  'socketPath' in remote ? { socketPath: remote.socketPath } : { host: remote.host ?? '127.0.0.1', port: remote.port }

/**
 * Has the server listen, by way of the master, which connects to a socket in the tunnel's directory for each connection that comes in there. See `Connection.requestReverse`.
 */
export async function requestReverse(
  { dial, controlPath, life }: Asked,
  remote: Remote,
  arrived: (arrival: Arrival) => void,
  bounds: Bounds,
): Promise<ReverseListener> {
  const { scope, clock, target } = dial
  const directory = await dial.directory()
  const path = directory.claim()
  const listener = await ownListener({ path }, scope, (socket) => arrived(arrivalOf(socket, dial)))
  const stop = () => {
    listener.close()
    directory.free(path)
  }
  const listen = endOf(remote)
  const to = { socketPath: path }
  const master = { controlPath, host: target.id, scope, clock }
  const label = remoteName(remote)
  try {
    const answer = await askMaster(master, { kind: 'open-remote', listen, to }, bounds)
    if (answer.kind === 'failed' || answer.kind === 'denied') {
      const why = shown(answer.reason)
      throw new TunnelError('ERR_FORWARD_FAILED', `${target.id}: the server does not listen on ${label}: ${why}`, {
        phase: 'forward',
      })
    }
    if (answer.kind !== 'ok' && answer.kind !== 'port')
      throw new TunnelError('ERR_LOST', `${target.id}: its ssh gave no answer to a forward`, { phase: 'forward' })
    return {
      address: 'port' in listen ? { host: listen.host, port: answer.kind === 'port' ? answer.port : listen.port } : listen,
      async close(within) {
        // By the words it was asked for: a port that the server chose is not known to the master by its number (9.2, by trial).
        const closing = askMaster(master, { kind: 'close-remote', listen, to }, within)
        await closing.catch(() => {
          // Lost with its connection.
        })
        stop()
      },
    }
  } catch (error) {
    stop()
    throw life.error ?? error
  }
}

function arrivalOf(socket: Socket, { scope }: Dial): Arrival {
  const held = scope.hold('channel', 'from the server', { force: () => socket.destroy() })
  socket.on('error', () => {
    // Told by whoever reads it; without a listener it would end the process.
  })
  socket.once('close', () => held.strike())
  return { accept: () => socket, reject: () => void socket.destroy() }
}
