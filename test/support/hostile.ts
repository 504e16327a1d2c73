import ssh2, { type AuthContext, type Connection, type ServerConfig } from 'ssh2'
import type { Target } from '../../src/api/target.ts'
import { Door } from '../../src/testing/door.ts'
import { type KeyPair, makeKeyPair } from '../../src/testing/keys.ts'
import { Sockets } from '../../src/testing/sockets.ts'

/** sshd asks nobody whether they are alive; ssh2 does, unless the interval is longer than anyone waits. */
const NEVER_MILLIS = 2 ** 31 - 1

/** What ssh2 keeps to itself and a server that breaks the rules needs. */
export interface Insides {
  _hostKeys: Record<string, unknown>
  _offer: unknown
  _strictMode: boolean | undefined
  _handlers: Record<string, (...args: never[]) => void>
  _packetRW: { write: { allocStart: number; alloc(size: number): Buffer; finalize(packet: Buffer): Buffer } }
  _cipher: { encrypt(packet: Buffer): void }
  disconnect(reason: number): void
  rekey(): void
}

export interface HostileOptions {
  readonly config?: Partial<ServerConfig>
  /** Before key exchange; the server does with the connection what this says. */
  readonly serve?: (connection: Connection, insides: Insides) => void
  /** Never ends its side of a TCP connection. */
  readonly stays?: boolean
  /** Lets everybody in by default. */
  readonly authenticate?: (context: AuthContext, connection: Connection) => void
}

/** SSH2D of the fault catalogue: an SSH server that misbehaves as it is told. Its target names a key that only this server accepts. */
export interface Hostile extends AsyncDisposable {
  readonly target: Target
  readonly hostKey: KeyPair
  readonly port: number
  /** Of all times; the latest last. */
  readonly connections: readonly Connection[]
  /** TCP connections now. */
  readonly open: number
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function startHostile({ config, serve, stays = false, authenticate }: HostileOptions = {}): Promise<Hostile> {
  const hostKey = makeKeyPair()
  const connections: Connection[] = []
  const server = new ssh2.Server({ hostKeys: [hostKey.private], keepaliveInterval: NEVER_MILLIS, ...config }, (connection) => {
    connections.push(connection)
    connection.on('error', () => {})
    connection.on('authentication', (context) =>
      authenticate === undefined ? context.accept() : authenticate(context, connection),
    )
    serve?.(connection, insidesOf(connection))
  })
  const sockets = new Sockets()
  const door = await Door.open((socket) => server.injectSocket(sockets.add(socket).on('end', () => stays || socket.end())))
  const close = async (): Promise<void> => void (await Promise.all([door.close(), sockets.close()]))
  return {
    target: {
      host: '127.0.0.1',
      port: door.port,
      user: 'guest',
      identity: { key: makeKeyPair().private },
      hostKey: { pinned: hostKey.fingerprint },
    },
    hostKey,
    port: door.port,
    connections,
    get open() {
      return sockets.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

export function insidesOf(connection: Connection): Insides {
  return Reflect.get(connection, '_protocol') as Insides
}

/** Sends any message of the protocol, right or wrong. */
export function sendRaw(connection: Connection, type: number, ...parts: ReadonlyArray<Buffer | string | number | boolean>): void {
  const insides = insidesOf(connection)
  const payload = Buffer.concat([Buffer.from([type]), ...parts.map(encoded)])
  const { write } = insides._packetRW
  const packet = write.alloc(payload.length)
  packet.set(payload, write.allocStart)
  insides._cipher.encrypt(write.finalize(packet))
}

/** As RFC 4251, section 5 writes it: a string with its length, a number as uint32. */
function encoded(part: Buffer | string | number | boolean): Buffer {
  if (typeof part === 'boolean') return Buffer.from([part ? 1 : 0])
  if (typeof part === 'number') return uint32(part)
  const bytes = Buffer.from(part as string)
  return Buffer.concat([uint32(bytes.length), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
