import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { Remote } from '../api/forward.ts'
import type { TunnelPool } from '../api/pool.ts'
import type { Target } from '../api/target.ts'
import type { Berth } from './berth.ts'
import { berthsOf } from './berths.ts'

/** Free sockets cost no lease, and a server that closes one is noticed: there is no need to hurry. */
const KEEP_ALIVE_MILLIS = 60_000

/** Where a request wants to go, as undici has understood it. */
const ownRemote = ({ hostname, port, protocol }: buildConnector.Options): Remote => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
})

/** undici says by `ref` and `unref` whether requests are on a socket. */
function coverBusy<S extends Duplex>(socket: S, berth: Berth): S {
  return Object.assign(socket, {
    ref: () => {
      // It sends nothing on a socket that is destroyed, and opens another.
      if (!berth.take()) socket.destroy()
      return socket
    },
    unref: () => {
      berth.park()
      return socket
    },
  })
}

/**
 * A dispatcher for undici's own `fetch`, `request` and `stream` that goes through a tunnel: `to`, or without it each request's own host and port,
 * as seen from the target. A lease is held while a request is on a socket. `fetch` rejects with a TypeError whose `cause` is the TunnelError,
 * `request` with the TunnelError itself. The caller closes it; a pool that ends closes its sockets.
 *
 * @param options undici's own for its Agent; `tls` for https origins
 * @throws TunnelError `ERR_INVALID_OPTION`
 * @example const response = await fetch('http://gpu-7/health', { dispatcher: dispatcherFor(pool, target, { port: 8080 }) })
 */
export function dispatcherFor(
  pool: TunnelPool,
  target: Target,
  to?: Remote,
  options: Omit<Agent.Options, 'connect' | 'factory' | 'tls'> & { tls?: ConnectionOptions | undefined } = {},
): Dispatcher {
  const { tls, ...rest } = options
  // Refuses what is no target and no place now, and asks nobody.
  pool.health(target)
  const open = berthsOf(pool, target)
  const secure = buildConnector({ ...(tls as buildConnector.BuildOptions | undefined), allowH2: false, timeout: 0 })
  const connect: buildConnector.connector = (wanted, done) => {
    const berth = open(to ?? ownRemote(wanted))
    const channel = berth.socket
    let isOver = false
    const once = (error: Error | null, socket?: Duplex) => {
      if (isOver) return
      isOver = true
      if (error !== null) channel.destroy()
      if (error !== null || socket === undefined) done(error ?? new Error('no socket'), null)
      else done(null, coverBusy(socket, berth) as unknown as Socket)
    }
    channel.once('error', (error) => once(error))
    if (wanted.protocol !== 'https:') {
      channel.once('connect', () => once(null, channel))
      return
    }
    secure({ ...wanted, httpSocket: channel as unknown as Socket }, (error, socket) => {
      socket?.once('close', () => channel.destroy())
      channel.once('error', (cause) => socket?.destroy(cause))
      once(error, socket ?? undefined)
    })
  }
  return new Agent({ keepAliveTimeout: KEEP_ALIVE_MILLIS, ...rest, connect })
}
