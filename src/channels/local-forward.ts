import type { Socket } from 'node:net'
import type { Remote, TcpAddress, UnixAddress } from '../api/forward.ts'
import type { TunnelError } from '../errors.ts'
import type { ResolvedForward } from '../options/forward.ts'
import { type BindAddress, type OwnedListener, ownListener } from '../owners/listener.ts'
import type { Scope } from '../owners/scope.ts'
import { removeStaleSocket } from '../owners/stale-socket.ts'
import { remoteName } from '../remote.ts'
import type { Connection } from '../transport/transport.ts'
import { reset, splice } from './splice.ts'

/** A path in the tunnel's directory that nobody else uses. */
export interface FreshPath {
  readonly path: string
  /** Whatever stands there goes, and its directory forgets it. */
  free(): void
}

/** What a forward stands on. */
export interface Ground {
  readonly connection: Connection
  readonly scope: Scope
  readonly channelTimeoutMillis: number
  /** A fresh path for a socket in the tunnel's private directory, which is made for the first of them. */
  readonly freshPath: () => Promise<FreshPath>
  /** A local connection could not be served. */
  readonly refused: (to: Remote, error: TunnelError) => void
}

/** A local forward that listens. */
export interface Listening {
  readonly address: UnixAddress | TcpAddress
  close(): void
}

/** A local forward, checked. */
export type Local = Extract<ResolvedForward, { kind: 'local' }>

interface Place {
  readonly address: BindAddress
  /** Once nothing listens there any more. */
  leave(): void
}

async function placeOf({ listen }: Local, ground: Ground): Promise<Place> {
  if (listen.kind === 'tcp') return { address: listen, leave: () => {} }
  if (listen.socketPath !== undefined) return { address: { path: listen.socketPath }, leave: () => {} }
  const { path, free } = await ground.freshPath()
  return { address: { path }, leave: free }
}

async function listen(address: BindAddress, ground: Ground, accept: (socket: Socket) => void): Promise<OwnedListener> {
  try {
    return await ownListener(address, ground.scope, accept)
  } catch (error) {
    if ('path' in address && (await removeStaleSocket(address.path))) return await ownListener(address, ground.scope, accept)
    throw error
  }
}

/**
 * Listens, and carries each connection to `to` through the server. A connection that cannot be served is cut so that it looks like a
 * failure, not like an end of data; nothing is read from it before its channel is open.
 */
export async function listenLocally(spec: Local, ground: Ground): Promise<Listening> {
  const { connection, scope, channelTimeoutMillis, refused } = ground
  const carry = async (client: Socket): Promise<void> => {
    try {
      const channel = await connection.openChannel(spec.to, { signal: undefined, timeoutMillis: channelTimeoutMillis })
      if (client.destroyed) channel.destroy()
      else splice(client, channel)
    } catch (error) {
      reset(client)
      refused(spec.to, error as TunnelError)
    }
  }
  const accept = (client: Socket): void => {
    const held = scope.hold('socket', `client of ${remoteName(spec.to)}`, { force: () => reset(client) })
    client.on('error', () => {
      // Told by 'close'; without a listener it would end the process.
    })
    client.once('close', () => held.strike())
    void carry(client)
  }
  const { address, leave } = await placeOf(spec, ground)
  try {
    const listener = await listen(address, ground, accept)
    return {
      address: 'path' in address ? { socketPath: address.path } : { host: address.host, port: listener.port ?? address.port },
      close: () => {
        listener.close()
        leave()
      },
    }
  } catch (error) {
    leave()
    throw error
  }
}
