import type { Socket } from 'node:net'
import type { ResolvedListen } from '../options/forward.ts'
import { type BindAddress, type OwnedListener, ownListener } from '../owners/listener.ts'
import { removeStaleSocket } from '../owners/stale-socket.ts'
import type { Ground, Listening } from './ground.ts'
import { reset } from './splice.ts'

interface Place {
  readonly address: BindAddress
  /** Once nothing listens there any more. */
  leave(): void
}

async function placeOf(listen: ResolvedListen, ground: Ground): Promise<Place> {
  if (listen.kind === 'tcp') return { address: listen, leave: () => {} }
  if (listen.socketPath !== undefined) return { address: { path: listen.socketPath }, leave: () => {} }
  const { path, free } = await ground.freshPath()
  return { address: { path }, leave: free }
}

async function bind(address: BindAddress, ground: Ground, accept: (socket: Socket) => void): Promise<OwnedListener> {
  try {
    return await ownListener(address, ground.scope, accept)
  } catch (error) {
    if ('path' in address && (await removeStaleSocket(address.path))) return await ownListener(address, ground.scope, accept)
    throw error
  }
}

/** How a listener is shown, and what it does with whoever comes in. */
export interface Reception {
  readonly label: string
  /** The client is paused, unread and held in the ground's scope until it is closed. */
  serve(client: Socket): Promise<void>
}

/** Listens on our side. Rejects with `ERR_ADDRESS_IN_USE`, `ERR_PATH_TOO_LONG`, `ERR_RUNTIME_DIRECTORY`, `ERR_LOCAL_LIMIT` or `ERR_FORWARD_FAILED`. */
export async function listenHere(listen: ResolvedListen, ground: Ground, { label, serve }: Reception): Promise<Listening> {
  let carried = 0
  const accept = (client: Socket): void => {
    const held = ground.scope.hold('socket', `client of ${label}`, { force: () => reset(client) })
    carried += 1
    client.on('error', () => {
      // Told by 'close'; without a listener it would end the process.
    })
    client.once('close', () => {
      carried -= 1
      held.strike()
    })
    void serve(client)
  }
  const { address, leave } = await placeOf(listen, ground)
  try {
    const listener = await bind(address, ground, accept)
    return {
      address: 'path' in address ? { socketPath: address.path } : { host: address.host, port: listener.port ?? address.port },
      get carried() {
        return carried
      },
      close: async () => {
        listener.close()
        leave()
      },
    }
  } catch (error) {
    leave()
    throw error
  }
}
