import type { Socket } from 'node:net'
import { basename } from 'node:path'
import type { Remote } from '../../api/forward.ts'
import { TunnelError } from '../../errors.ts'
import { ownListener } from '../../owners/listener.ts'
import { remoteName } from '../../remote.ts'
import { shown } from '../../shown.ts'
import { quietly } from '../../wait.ts'
import type { ConnectionLife } from '../life.ts'
import type { Arrival, Bounds, Dial, ReverseListener } from '../transport.ts'
import { askMaster } from './mux/control.ts'
import type { End } from './mux/messages.ts'
import { ReverseStream } from './reverse-stream.ts'

/** How long a master may take to say that it lives. */
const ALIVE_BOUND_MILLIS = 5_000

/** Of whom it is asked. */
export interface Asked {
  readonly dial: Dial
  readonly controlPath: string
  readonly life: ConnectionLife
  /** A round trip through the server. */
  readonly probe: (bounds: Bounds) => Promise<void>
  /** Hears that the server has sent something: a probe waits behind what comes that way. */
  readonly proven: () => void
  /** Where the master was told to connect to, by where the server was to listen. */
  readonly told: Map<string, Told>
}

/** A master does not forget what it was told when the server refuses, and goes by what it was told first (9.2): it is told the same again. */
export interface Told {
  readonly name: string
  isListening: boolean
}

const endOf = (remote: Remote): End =>
  'socketPath' in remote ? { socketPath: remote.socketPath } : { host: remote.host ?? '127.0.0.1', port: remote.port }

/**
 * Has the server listen, by way of the master, which connects to a socket in the tunnel's directory for each connection that comes in there. See `Connection.requestReverse`.
 */
export async function requestReverse(
  asked: Asked,
  remote: Remote,
  arrived: (arrival: Arrival) => void,
  bounds: Bounds,
): Promise<ReverseListener> {
  const { dial, controlPath, life, probe } = asked
  const { scope, clock, target } = dial
  const directory = await dial.directory()
  const listen = endOf(remote)
  const place = remoteName(remote)
  const known = asked.told.get(place)
  if (known?.isListening === true)
    throw new TunnelError('ERR_ADDRESS_IN_USE', `${target.id}: the server listens on ${place} for this tunnel already`, {
      phase: 'forward',
    })
  const path = directory.claim(known?.name)
  const told: Told = known ?? { name: basename(path), isListening: false }
  // Any free port is another one each time.
  if (!('port' in listen) || listen.port !== 0) asked.told.set(place, told)
  told.isListening = true
  const leave = () => {
    directory.free(path)
    told.isListening = false
  }
  const listener = await ownListener({ path }, scope, (socket) => arrived(arrivalOf(socket, asked))).catch((error) => {
    leave()
    throw error
  })
  const stop = () => {
    listener.close()
    leave()
  }
  const spec = { forward: 'remote', listen, to: { socketPath: path } } as const
  const master = { controlPath, host: target.id, scope, clock }
  // By the words it was asked for: a port that the server chose is not known to the master by its number (9.2, by trial).
  const cancel = (within: Bounds) => askMaster(master, { kind: 'close-forward', ...spec }, within)
  try {
    const answer = await askMaster(master, { kind: 'open-forward', ...spec }, bounds)
    if (answer.kind === 'failed' || answer.kind === 'denied') {
      const why = shown(answer.reason)
      throw new TunnelError('ERR_FORWARD_FAILED', `${target.id}: the server does not listen on ${place}: ${why}`, {
        phase: 'forward',
      })
    }
    if (answer.kind !== 'ok' && answer.kind !== 'port')
      throw new TunnelError('ERR_LOST', `${target.id}: its ssh gave no answer to a forward`, { phase: 'forward' })
    return {
      address: 'port' in listen ? { host: listen.host, port: answer.kind === 'port' ? answer.port : listen.port } : listen,
      async close(within) {
        // The master has only told the server; what the server answers after that comes when it listens no longer.
        const closing = cancel(within).then(() => probe(within))
        await closing.catch(() => {
          // Lost with its connection, or as good as lost.
        })
        stop()
      },
    }
  } catch (error) {
    stop()
    // It may still come to listen there.
    if (life.error === undefined && !scope.isReleasing)
      quietly(cancel({ signal: undefined, timeoutMillis: bounds.timeoutMillis }))
    throw life.error ?? error
  }
}

function arrivalOf(socket: Socket, { dial, controlPath, life, proven }: Asked): Arrival {
  const { scope, clock, target } = dial
  const held = scope.hold('channel', 'from the server', { force: () => socket.destroy() })
  socket.on('error', () => {
    // Told by whoever reads it; without a listener it would end the process.
  })
  socket.once('close', () => held.strike())
  const master = { controlPath, host: target.id, scope, clock }
  const masterLives = () => askMaster(master, { kind: 'alive' }, { signal: undefined, timeoutMillis: ALIVE_BOUND_MILLIS })
  return { accept: () => new ReverseStream(socket, life, masterLives, proven), reject: () => void socket.destroy() }
}
