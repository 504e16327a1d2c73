import type { Socket } from 'node:net'
import type { ResolvedListen } from '../options/forward.ts'
import { type BindAddress, type OwnedListener, ownListener } from '../owners/listener.ts'
import { reset } from '../owners/reset.ts'
import { removeStaleSocket } from '../owners/stale-socket.ts'
import type { Ground, Listening } from './ground.ts'

interface Place {
  readonly address: BindAddress
  /** Once nothing listens there any more. */
  leave(): void
}

/** Where a listener is, how it is shown, and what it does with whoever comes in. */
export interface Reception {
  readonly listen: ResolvedListen
  readonly isTakingOver?: boolean | undefined
  readonly label: string
  /** The client is paused, unread and held in the ground's scope until it is closed. */
  serve(client: Socket): Promise<void>
}

async function placeOf({ listen, isTakingOver }: Reception, ground: Ground): Promise<Place> {
  if (listen.kind === 'tcp') return { address: listen, leave: () => {} }
  const { socketPath: path } = listen
  if (path !== undefined) return { address: { path, placing: isTakingOver ? 'takeOver' : 'exclusive' }, leave: () => {} }
  const fresh = await ground.freshPath()
  return { address: { path: fresh.path }, leave: fresh.free }
}

async function bind(address: BindAddress, ground: Ground, accept: (socket: Socket) => void): Promise<OwnedListener> {
  try {
    return await ownListener(address, ground.scope, accept)
  } catch (error) {
    if ('path' in address && (await removeStaleSocket(address.path))) return await ownListener(address, ground.scope, accept)
    throw error
  }
}

/** Listens on our side. Rejects with `ERR_ADDRESS_IN_USE`, `ERR_PATH_TOO_LONG`, `ERR_RUNTIME_DIRECTORY`, `ERR_LOCAL_LIMIT` or `ERR_FORWARD_FAILED`. */
export async function listenHere(reception: Reception, ground: Ground): Promise<Listening> {
  const { label, serve } = reception
  const accept = (client: Socket): void => {
    const held = ground.scope.hold('socket', `client of ${label}`, { force: () => reset(client) })
    client.on('error', () => {
      // Told by 'close'; without a listener it would end the process.
    })
    client.once('close', () => held.strike())
    void serve(client)
  }
  const { address, leave } = await placeOf(reception, ground)
  try {
    const listener = await bind(address, ground, accept)
    return {
      address: 'path' in address ? { socketPath: address.path } : { host: address.host, port: listener.port ?? address.port },
      close: async () => {
        const left = listener.leave()
        leave()
        await left
      },
      idle: () => Promise.resolve(),
    }
  } catch (error) {
    leave()
    throw error
  }
}
