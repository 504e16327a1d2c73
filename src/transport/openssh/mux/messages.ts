import { string, uint32, WireReader } from '../wire.ts'

// OpenSSH's PROTOCOL.mux, version 4: `uint32 length`, then a type and what belongs to it.
const HELLO = 1
const VERSION = 4
const OPEN_FORWARD = 0x10000006
const CLOSE_FORWARD = 0x10000007
const ALIVE_CHECK = 0x10000004
const TERMINATE = 0x10000005
const PROXY = 0x1000000f
const OK = 0x80000001
const PERMISSION_DENIED = 0x80000002
const FAILURE = 0x80000003
const IS_ALIVE = 0x80000005
const REMOTE_PORT = 0x80000007
const PROXY_ANSWER = 0x8000000f

const FORWARD = { local: 1, remote: 2, dynamic: 3 } as const
/** What stands in a port's place where the address is the path of a unix socket. */
const UNIX_PORT = 0xfffffffe

/** No answer is longer: a reason of the master's. */
export const LONGEST_MUX_FRAME = 64 * 1024

/** An end of a forward. */
export type End = { readonly host: string; readonly port: number } | { readonly socketPath: string }

/** A forward of the master's own. `remote`: the server listens, and the master connects to `to` itself. `dynamic`: SOCKS, whose `to` is `socks`, port 0. */
export interface MasterForward {
  readonly forward: keyof typeof FORWARD
  readonly listen: End
  readonly to: End
}

/** What is asked of a master, one at a time on a connection. */
export type MuxRequest =
  | { readonly kind: 'alive' | 'terminate' | 'proxy' }
  | ({ readonly kind: 'open-forward' | 'close-forward' } & MasterForward)

/** What a master answers. */
export type MuxAnswer =
  | { readonly kind: 'hello'; readonly version: number }
  | { readonly kind: 'ok' | 'proxy' }
  | { readonly kind: 'alive'; readonly pid: number }
  | { readonly kind: 'port'; readonly port: number }
  | { readonly kind: 'denied' | 'failed'; readonly reason: string }

const endOf = (end: End) => ('port' in end ? [string(end.host), uint32(end.port)] : [string(end.socketPath), uint32(UNIX_PORT)])

/** The greeting, which both sides send first. */
export const helloMessage = (): Buffer => string(Buffer.concat([uint32(HELLO), uint32(VERSION)]))

/** A request as it goes over the wire. */
export function requestMessage(request: MuxRequest, id: number): Buffer {
  const head = (type: number) => [uint32(type), uint32(id)]
  switch (request.kind) {
    case 'alive':
      return string(Buffer.concat(head(ALIVE_CHECK)))
    case 'terminate':
      return string(Buffer.concat(head(TERMINATE)))
    case 'proxy':
      return string(Buffer.concat(head(PROXY)))
    default: {
      const type = request.kind === 'open-forward' ? OPEN_FORWARD : CLOSE_FORWARD
      return string(
        Buffer.concat([...head(type), uint32(FORWARD[request.forward]), ...endOf(request.listen), ...endOf(request.to)]),
      )
    }
  }
}

/** Reads an answer to request `id`; `undefined` for what no master says there. */
export function readAnswer(frame: Buffer, id: number): MuxAnswer | undefined {
  const reader = new WireReader(frame)
  const type = reader.uint32()
  const second = reader.uint32()
  if (second === undefined) return undefined
  if (type === HELLO) return { kind: 'hello', version: second }
  if (second !== id) return undefined
  switch (type) {
    case OK:
      return { kind: 'ok' }
    case PROXY_ANSWER:
      return { kind: 'proxy' }
    case IS_ALIVE: {
      const pid = reader.uint32()
      return pid === undefined ? undefined : { kind: 'alive', pid }
    }
    case REMOTE_PORT: {
      const port = reader.uint32()
      return port === undefined ? undefined : { kind: 'port', port }
    }
    case PERMISSION_DENIED:
    case FAILURE: {
      const reason = reader.text()
      return reason === undefined ? undefined : { kind: type === FAILURE ? 'failed' : 'denied', reason }
    }
    default:
      return undefined
  }
}

/** The version of PROTOCOL.mux that is spoken here. */
export const MUX_VERSION = VERSION
