import { connect, isIPv6, type Socket } from 'node:net'
import { onAbort } from '../aborts.ts'
import { TunnelError, type TunnelErrorCode } from '../errors.ts'
import { lookupAll } from './lookup.ts'
import { reset } from './reset.ts'
import type { Held, Scope } from './scope.ts'

/** Between one address and the next (RFC 8305, section 5); the earlier attempts go on. */
const NEXT_ATTEMPT_MILLIS = 250

const CODES: Readonly<Record<string, TunnelErrorCode>> = {
  ECONNREFUSED: 'ERR_REFUSED',
  ECONNRESET: 'ERR_RESET',
  EPIPE: 'ERR_RESET',
  ENETUNREACH: 'ERR_UNREACHABLE',
  EHOSTUNREACH: 'ERR_UNREACHABLE',
  EADDRNOTAVAIL: 'ERR_UNREACHABLE',
  ETIMEDOUT: 'ERR_UNREACHABLE',
  EMFILE: 'ERR_LOCAL_LIMIT',
  ENFILE: 'ERR_LOCAL_LIMIT',
  ENOBUFS: 'ERR_LOCAL_LIMIT',
  ENOMEM: 'ERR_LOCAL_LIMIT',
}

/** What a socket's error means, by its errno. */
export function socketErrorCode(error: unknown): TunnelErrorCode | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? CODES[code] : undefined
}

/** A connected TCP socket and its entry in the scope, struck at the socket's 'close'. */
export interface OwnedSocket {
  readonly socket: Socket
  readonly held: Held
}

export interface TcpRequest {
  readonly host: string
  readonly port: number
  readonly scope: Scope
  readonly signal: AbortSignal
  /** Said when names are resolved and connecting begins. */
  readonly onResolved?: (() => void) | undefined
  /** Goes on writing when the other end has ended. */
  readonly allowHalfOpen?: boolean | undefined
}

function attempt(address: string, request: TcpRequest): OwnedSocket {
  const label = `tcp ${isIPv6(address) ? `[${address}]` : address}:${request.port}`
  // The entry comes first; until the line after it there is nothing to free.
  let socket: Socket | undefined
  // Whoever half-closes could take its end for an end of data.
  const force = (): void => {
    if (socket !== undefined && request.allowHalfOpen === true) reset(socket)
    else socket?.destroy()
  }
  const held = request.scope.hold('socket', label, { force })
  // An idle tunnel does not hold the process; what is owed to the user does, elsewhere.
  socket = connect({ host: address, port: request.port, noDelay: true, allowHalfOpen: request.allowHalfOpen === true }).unref()
  socket.on('error', () => {
    // Told by whoever waits for the connection; without a listener it would end the process.
  })
  socket.once('close', () => held.strike())
  return { socket, held }
}

/**
 * Connects to whichever address of a host answers first (happy eyeballs): the next is tried after 250 ms or at once when one fails, and
 * slow ones are not given up. TCP_NODELAY is set: without it each turn of the key exchange waits for a delayed ACK.
 * Rejects with `ERR_DNS`, `ERR_REFUSED`, `ERR_UNREACHABLE`, `ERR_RESET`, `ERR_LOCAL_LIMIT`, or the signal's reason; every attempt but the winner is freed.
 */
export async function connectTcp(request: TcpRequest): Promise<OwnedSocket> {
  const { host, port, signal } = request
  signal.throwIfAborted()
  const waiting = [...(await lookupAll(host, signal))]
  signal.throwIfAborted()
  request.onResolved?.()
  return await new Promise<OwnedSocket>((resolve, reject) => {
    const racing = new Set<OwnedSocket>()
    let timer: NodeJS.Timeout | undefined
    let firstError: unknown
    const settle = (winner?: OwnedSocket) => {
      clearTimeout(timer)
      takeBack()
      for (const loser of racing) if (loser !== winner) loser.socket.destroy()
    }
    const next = () => {
      clearTimeout(timer)
      const address = waiting.shift()
      if (address !== undefined) race(address)
      else if (racing.size === 0) {
        settle()
        const reason = firstError instanceof Error ? firstError.message : 'no address'
        const code = socketErrorCode(firstError) ?? 'ERR_UNREACHABLE'
        reject(new TunnelError(code, `could not connect to ${host}:${port}: ${reason}`, { cause: firstError, phase: 'connect' }))
      }
    }
    const race = (address: string) => {
      const owned = attempt(address, request)
      racing.add(owned)
      owned.socket.once('connect', () => {
        settle(owned)
        resolve(owned)
      })
      owned.socket.once('error', (error) => {
        firstError ??= error
        if (racing.delete(owned) && !signal.aborted) next()
      })
      if (waiting.length > 0) timer = setTimeout(next, NEXT_ATTEMPT_MILLIS).unref()
    }
    const takeBack = onAbort(signal, () => {
      settle()
      reject(signal.reason)
    })
    next()
  })
}
