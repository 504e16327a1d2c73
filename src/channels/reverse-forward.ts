import { TunnelError } from '../errors.ts'
import type { ResolvedForward } from '../options/forward.ts'
import { connectHere } from '../owners/local-socket.ts'
import { remoteName } from '../remote.ts'
import type { Arrival, Bounds, ReverseListener } from '../transport/transport.ts'
import type { Listening, TunnelGround } from './ground.ts'
import { occupied, removeDeadSocket } from './remote-socket.ts'
import { splice } from './splice.ts'

/** A reverse forward, checked. */
export type Reverse = Extract<ResolvedForward, { kind: 'reverse' }>

/** A server decides how many it lets in; each costs us a descriptor. */
const MOST_CARRIED = 512

/** Has the server listen; when it will not, says as well as can be found out why, and removes a unix socket that a dead connection has left. */
async function request(spec: Reverse, ground: TunnelGround, arrived: (arrival: Arrival) => void): Promise<ReverseListener> {
  const { connection, channelTimeoutMillis } = ground
  const bounds: Bounds = { signal: undefined, timeoutMillis: channelTimeoutMillis }
  const { remote } = spec
  try {
    return await connection.requestReverse(remote, arrived, bounds)
  } catch (error) {
    if (!TunnelError.is(error) || error.code !== 'ERR_FORWARD_FAILED') throw error
    if (await occupied(remote, connection, bounds))
      throw new TunnelError(
        'ERR_ADDRESS_IN_USE',
        `the server cannot listen on ${remoteName(remote)}: somebody listens there already`,
        {
          cause: error,
          phase: 'forward',
        },
      )
    if ('socketPath' in remote && (await removeDeadSocket(remote.socketPath, connection, bounds)))
      return await connection.requestReverse(remote, arrived, bounds)
    const advice =
      'socketPath' in remote
        ? 'does its directory exist, may this user write there, is something else in the way, does AllowStreamLocalForwarding permit it?'
        : 'do AllowTcpForwarding, PermitListen and GatewayPorts permit it, is the port free and above 1023?'
    throw new TunnelError('ERR_FORWARD_FAILED', `the server does not listen on ${remoteName(remote)}: ${advice}`, {
      cause: error,
      phase: 'forward',
    })
  }
}

/** How many connections there are, and who waits until there is none. */
class Carried {
  count = 0
  #waiting: Array<() => void> = []

  add(): () => void {
    this.count += 1
    return () => {
      this.count -= 1
      if (this.count > 0) return
      const waiting = this.#waiting
      this.#waiting = []
      for (const resolve of waiting) resolve()
    }
  }

  none(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}

/** Has the server listen, and carries each connection that comes in there to `to` on our side, which is connected to before the server is told yes. */
export async function listenRemotely(spec: Reverse, ground: TunnelGround): Promise<Listening> {
  const { scope, connection, clock, channelTimeoutMillis, refused } = ground
  const carried = new Carried()
  const carry = async (arrival: Arrival): Promise<void> => {
    const over = new AbortController()
    const tooLate = () =>
      over.abort(
        new TunnelError('ERR_CHANNEL_TIMEOUT', `no connection to ${remoteName(spec.to)} within ${channelTimeoutMillis} ms`),
      )
    const timer = clock.setTimeout(tooLate, channelTimeoutMillis)
    const gone = carried.add()
    try {
      const socket = await connectHere(spec.to, scope, over.signal)
      try {
        splice(socket, arrival.accept())
        socket.once('close', gone)
      } catch (error) {
        socket.destroy()
        throw error
      }
    } catch (error) {
      gone()
      arrival.reject()
      refused(spec.to, error as TunnelError)
    } finally {
      clock.clearTimeout(timer)
    }
  }
  const arrived = (arrival: Arrival): void => {
    if (carried.count < MOST_CARRIED) {
      void carry(arrival)
      return
    }
    arrival.reject()
    const what = `${MOST_CARRIED} connections came in through ${remoteName(spec.remote)} and are open`
    refused(spec.to, new TunnelError('ERR_LOCAL_LIMIT', what, { phase: 'forward' }))
  }
  const listener = await request(spec, ground, arrived)
  const bounds: Bounds = { signal: undefined, timeoutMillis: channelTimeoutMillis }
  return {
    address: listener.address,
    close: async () => {
      await listener.close(bounds)
      // sshd leaves it.
      if ('socketPath' in spec.remote) await removeDeadSocket(spec.remote.socketPath, connection, bounds)
    },
    idle: () => carried.none(),
  }
}
