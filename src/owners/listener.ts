import { chmodSync, existsSync, lstatSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { TunnelError, type TunnelErrorCode } from '../errors.ts'
import { NamedPath, type Placing } from './named-path.ts'
import type { Scope } from './scope.ts'

/** `path` (with `placing` one that the user has named), or `host` and `port` (0: any free one). */
export type BindAddress =
  | { readonly path: string; readonly placing?: Placing | undefined }
  | { readonly host: string; readonly port: number }

const CODES: Readonly<Record<string, TunnelErrorCode>> = {
  EADDRINUSE: 'ERR_ADDRESS_IN_USE',
  EMFILE: 'ERR_LOCAL_LIMIT',
  ENFILE: 'ERR_LOCAL_LIMIT',
  ENOBUFS: 'ERR_LOCAL_LIMIT',
  ENOMEM: 'ERR_LOCAL_LIMIT',
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'somebody listens there already',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'what should be its directory is none',
  EROFS: 'its directory is read-only',
}

/** What stands in the way, in words. The kernel and libuv tell less of a path than there is: libuv turns ENOENT into EACCES. */
function adviceFor({ code = '', message }: NodeJS.ErrnoException, address: BindAddress): string {
  const path = 'path' in address ? address.path : undefined
  if (path !== undefined && code === 'EADDRINUSE' && lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false)
    return 'something that is no socket is in the way'
  if (path !== undefined && code === 'EACCES' && !existsSync(dirname(path))) return ADVICE.ENOENT ?? message
  return ADVICE[code] ?? message
}

const nameOf = (address: BindAddress) => ('path' in address ? address.path : `${address.host}:${address.port}`)

/** A listener that is bound, and what it is bound to. */
export interface OwnedListener {
  readonly server: Server
  /** The port that the kernel chose, when it was asked to. */
  readonly port: number | undefined
  /** Stops listening; connections it has accepted are their owners' business. */
  close(): void
  /** The same, but lets in who came before a successor took the path over: they would be cut, and cannot be refused any more. */
  leave(): Promise<void>
}

/** Whoever has come in by now is accepted in the next turn of the event loop. */
const twoTurns = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/**
 * Binds and listens; resolves once it does. Connections arrive paused and half-open capable. A unix socket is open to its user alone,
 * whatever the umask says, from the turn of the event loop in which it is bound. The entry is struck at the server's 'close';
 * libuv unlinks a unix socket's path as it closes it. Rejects with `ERR_ADDRESS_IN_USE`, `ERR_LOCAL_LIMIT` or `ERR_FORWARD_FAILED`.
 * A `server` that is given, such as one of node:http, does with its connections what it does.
 */
export function ownListener(
  address: BindAddress,
  scope: Scope,
  accept: (socket: Socket) => void,
  server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }),
): Promise<OwnedListener> {
  return new Promise((resolve, reject) => {
    let isBound = false
    let unrestricted: NodeJS.ErrnoException | undefined
    const isPath = 'path' in address
    const named = isPath && address.placing !== undefined ? new NamedPath(address.path, address.placing, scope.ledger) : undefined
    const close = () => {
      named?.leave()
      const closeServer = () => {
        if (isBound) server.close()
      }
      if (named === undefined) closeServer()
      else named.close(closeServer)
    }
    const leave = async () => {
      if (named?.leave() === false) await twoTurns()
      close()
    }
    const held = scope.hold('listener', `listen ${nameOf(address)}`, { force: close })
    server.on('connection', accept)
    server.on('close', () => held.strike())
    const fail = (error: NodeJS.ErrnoException) => {
      const code = CODES[error.code ?? ''] ?? 'ERR_FORWARD_FAILED'
      reject(
        new TunnelError(code, `could not listen on ${nameOf(address)}: ${adviceFor(error, address)}`, {
          cause: error,
          phase: 'forward',
        }),
      )
    }
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (isBound) return
      held.strike()
      fail(error)
    })
    const path = named?.bound ?? (isPath ? address.path : undefined)
    server.listen(isPath ? { path, exclusive: true } : { host: address.host, port: address.port, exclusive: true }, () => {
      isBound = true
      server.unref()
      if (unrestricted !== undefined) {
        close()
        fail(unrestricted)
        return
      }
      try {
        named?.take()
      } catch (error) {
        close()
        fail(error as NodeJS.ErrnoException)
        return
      }
      if (scope.isReleasing) {
        close()
        reject(new TunnelError('ERR_LOST', `the tunnel ended before ${nameOf(address)} was bound`, { phase: 'forward' }))
        return
      }
      const bound = server.address()
      resolve({ server, port: typeof bound === 'object' && bound !== null ? bound.port : undefined, close, leave })
    })
    // A path is bound by now, or never.
    if (path !== undefined && server.listening) unrestricted = restrict(path)
  })
}

/** Takes it from everybody else; what stands in the way is the result. */
function restrict(path: string): NodeJS.ErrnoException | undefined {
  try {
    chmodSync(path, 0o600)
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}
