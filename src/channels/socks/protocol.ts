import type { TunnelError } from '../../errors.ts'

/** SOCKS5 as a server reads it: RFC 1928 and RFC 1929. Pure: bytes in, messages out. */
export type Parsed<T> =
  | { readonly value: T; readonly length: number }
  /** So far it is right, but not all of it is there. */
  | 'more'
  /** No client of this protocol sends that. */
  | 'wrong'

/** What a client presents. */
export interface Presented {
  readonly username: Buffer
  readonly password: Buffer
}

/** What a client asks for; `to` undefined: an address of a kind that nobody has defined. */
export interface Request {
  readonly command: number
  readonly to: { readonly host: string; readonly port: number } | undefined
}

const VERSION = 5
const LOGIN_VERSION = 1
/** Ways to log in. */
export const NO_LOGIN = 0
export const PASSWORD_LOGIN = 2
const NO_WAY = 0xff
/** The one command that a tunnel can do. */
export const CONNECT = 1

const IPV4 = 1
const DOMAIN = 3
const IPV6 = 4
/** A name goes to the server as it is; what a resolver would not take does not. */
const NAME = /^[\x21-\x7e]+$/

/** The client's first message: which ways to log in it knows. */
export function parseGreeting(bytes: Buffer): Parsed<Uint8Array> {
  const [version = VERSION, count] = bytes
  if (version !== VERSION || count === 0) return 'wrong'
  const length = 2 + (count ?? 0)
  return count === undefined || bytes.length < length ? 'more' : { value: bytes.subarray(2, length), length }
}

/** The user name and password. */
export function parseLogin(bytes: Buffer): Parsed<Presented> {
  const [version = LOGIN_VERSION, nameLength] = bytes
  if (version !== LOGIN_VERSION || nameLength === 0) return 'wrong'
  if (nameLength === undefined) return 'more'
  const passwordLength = bytes[2 + nameLength]
  if (passwordLength === undefined) return 'more'
  if (passwordLength === 0) return 'wrong'
  const length = 3 + nameLength + passwordLength
  if (bytes.length < length) return 'more'
  return { value: { username: bytes.subarray(2, 2 + nameLength), password: bytes.subarray(3 + nameLength, length) }, length }
}

const ipv6 = (bytes: Buffer) => Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(':')

/** Where the client wants to go. */
export function parseRequest(bytes: Buffer): Parsed<Request> {
  const [version = VERSION, command = CONNECT, reserved = 0, kind] = bytes
  if (version !== VERSION || reserved !== 0) return 'wrong'
  if (kind === undefined) return 'more'
  const isName = kind === DOMAIN
  if (kind !== IPV4 && kind !== IPV6 && !isName) return { value: { command, to: undefined }, length: bytes.length }
  const nameLength = bytes[4]
  if (nameLength === undefined) return 'more'
  if (isName && nameLength === 0) return 'wrong'
  const begin = isName ? 5 : 4
  const end = begin + (isName ? nameLength : kind === IPV4 ? 4 : 16)
  if (bytes.length < end + 2) return 'more'
  const address = bytes.subarray(begin, end)
  const host = isName ? address.toString('latin1') : kind === IPV4 ? address.join('.') : ipv6(address)
  const port = bytes.readUInt16BE(end)
  if (port === 0 || (isName && !NAME.test(host))) return 'wrong'
  return { value: { command, to: { host, port } }, length: end + 2 }
}

/** Answers. */
export const chosen = (method: number | undefined): Buffer => Buffer.from([VERSION, method ?? NO_WAY])
export const loggedIn = (isIn: boolean): Buffer => Buffer.from([LOGIN_VERSION, isIn ? 0 : 1])
/** The address that the server connects from is not told to us: all zeros, as OpenSSH answers. */
export const reply = (code: number): Buffer => Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0])

/** Reply codes: RFC 1928, section 6. */
export const REPLY = {
  granted: 0,
  failed: 1,
  prohibited: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  refused: 5,
  commandUnsupported: 7,
  addressUnsupported: 8,
} as const

/** What OpenSSH says of a connect that failed: the C library's words, at the end of our message. */
const WORDS: ReadonlyArray<readonly [pattern: RegExp, code: number]> = [
  [/: connect failed: Connection refused$|: Connection refused$/i, REPLY.refused],
  [/Network is unreachable$/i, REPLY.networkUnreachable],
  [
    /(?:No route to host|timed out|Name or service not known|Temporary failure in name resolution|No address associated with hostname)$/i,
    REPLY.hostUnreachable,
  ],
]

/** How a client is told why it cannot be served. */
export function replyFor({ code, message }: TunnelError): number {
  if (code === 'ERR_PROHIBITED') return REPLY.prohibited
  if (code === 'ERR_CHANNEL_TIMEOUT') return REPLY.hostUnreachable
  if (code !== 'ERR_CHANNEL_REFUSED') return REPLY.failed
  return WORDS.find(([pattern]) => pattern.test(message))?.[1] ?? REPLY.failed
}
