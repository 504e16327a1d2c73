import type { Agent, AgentOptions, ClientRequest, ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import type { Remote } from '../api/forward.ts'
import type { Berth, OpenBerth } from './berth.ts'

type Connect = (options: ClientRequestArgs & ConnectionOptions, done?: (error: Error | null, socket: Duplex) => void) => Duplex

/** What node:http gives an agent beside what its types say: where a request is put on a socket. */
interface AgentInside extends Agent {
  addRequest(request: ClientRequest, options: ClientRequestArgs): void
}
interface RequestInside extends ClientRequest {
  onSocket(socket: Duplex, error?: Error): void
}
type AgentClass = new (options: AgentOptions & ConnectionOptions) => AgentInside

/** An agent's way into the tunnel. */
export interface TunnelAgentOptions {
  readonly open: OpenBerth
  /** `undefined`: where each request wants to go. */
  readonly to: Remote | undefined
  readonly options: AgentOptions
  readonly tls: ConnectionOptions | undefined
}

const isUsable = (socket: Duplex) => !socket.destroyed && socket.readable && socket.writable

/** Where a request wants to go, as node:http has understood it. */
const ownRemote = ({ socketPath, host, port }: ClientRequestArgs): Remote =>
  typeof socketPath === 'string' ? { socketPath } : { host: host ?? '127.0.0.1', port: Number(port) }

/** Node's own agent, of http or of https, whose sockets are berths. Made when first asked for: node:https alone would double what importing the package costs. */
function tunnelAgent(Base: AgentClass, { open, to, options, tls }: TunnelAgentOptions): Agent {
  const berths = new WeakMap<Duplex, Berth>()
  const asked = new WeakMap<ClientRequest, ClientRequestArgs>()
  const connectTls = tls && (Base.prototype.createConnection as Connect)

  class TunnelAgent extends Base {
    override addRequest(request: ClientRequest, wanted: ClientRequestArgs): void {
      asked.set(request, wanted)
      super.addRequest(request, wanted)
    }

    override createConnection(wanted: ClientRequestArgs & ConnectionOptions): Duplex {
      const berth = open(to ?? ownRemote(wanted))
      const channel: Duplex = berth.socket
      let socket = channel
      if (connectTls !== undefined) {
        socket = connectTls.call(this, { ALPNProtocols: ['http/1.1'], ...wanted, socket: channel })
        // Whoever waits on the TLS socket is told what happened to the channel, in its own words, and the other way round nothing stays open.
        channel.once('error', (error) => socket.destroy(error))
        socket.once('close', () => channel.destroy())
        socket.on('error', () => {
          // Told to the request; one that is parked has nobody to be told.
        })
      } else if (wanted.timeout) berth.socket.setTimeout(wanted.timeout)
      berths.set(socket, berth)
      return socket
    }

    override keepSocketAlive(socket: Duplex): boolean {
      const isKept = super.keepSocketAlive(socket) as unknown as boolean
      return isKept && isUsable(socket) && berths.get(socket)?.park() !== false
    }

    override reuseSocket(socket: Duplex, request: ClientRequest): void {
      super.reuseSocket(socket, request)
      const inside = request as RequestInside
      const isTaken = isUsable(socket) && berths.get(socket)?.take() === true
      // A plain channel is replaced under its socket when it dies before a byte was sent. TLS cannot be: here is what it can do.
      if (isTaken && tls === undefined) return
      inside.onSocket = (given, error) => {
        Reflect.deleteProperty(inside, 'onSocket')
        const hand = () => {
          if (error !== undefined || request.destroyed || (isTaken && isUsable(given))) return inside.onSocket(given, error)
          given.destroy()
          request.reusedSocket = false
          this.addRequest(request, asked.get(request) ?? {})
        }
        // An end that has been read already is told within two ticks.
        process.nextTick(() => process.nextTick(hand))
      }
    }
  }
  return new TunnelAgent({ keepAlive: true, ...options, ...tls })
}

/** An agent for http.request, or with `tls` for https.request: one that goes through a tunnel. */
export function createAgent(given: TunnelAgentOptions): Agent {
  const { Agent: Base } = given.tls === undefined ? process.getBuiltinModule('node:http') : process.getBuiltinModule('node:https')
  return tunnelAgent(Base as unknown as AgentClass, given)
}
