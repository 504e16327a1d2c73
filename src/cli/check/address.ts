import { InvalidArgumentError } from 'commander'
import type { Remote } from '../../api/forward.ts'

/** Where to log in, as written on a command line. */
export interface Login {
  readonly user?: string
  readonly host: string
  readonly port?: number
}

const LOGIN = /^(?:(?<user>[^@\s]+)@)?(?:\[(?<v6>[0-9a-fA-F:.%a-z]+)\]|(?<host>[^:\s@[\]]+))(?::(?<port>\d{1,5}))?$/

/** Reads `user@host:port`; an IPv6 address stands in brackets. @throws InvalidArgumentError */
export function readLogin(text: string): Login {
  const { user, v6, host = v6, port } = LOGIN.exec(text)?.groups ?? {}
  if (host === undefined) throw new InvalidArgumentError(`expected [user@]host[:port], got \`${text}\``)
  return { host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port: Number(port) }) }
}

/** Reads what to connect to as seen from the host: `10998`, `10.0.0.9:80`, `[::1]:80` or the path of a unix socket. @throws InvalidArgumentError */
export function readRemote(text: string): Remote {
  if (text.startsWith('/')) return { socketPath: text }
  if (/^\d{1,5}$/.test(text)) return { port: Number(text) }
  const { user, host, port } = readLogin(text)
  if (user !== undefined || port === undefined)
    throw new InvalidArgumentError(`expected a port, host:port or a socket's path, got \`${text}\``)
  return { host, port }
}

/** Statuses that are healthy. */
export interface Expectation {
  readonly from: number
  readonly to: number
}

/** What counts as healthy when nothing is said: 2xx and 3xx. */
export const HEALTHY: Expectation = { from: 200, to: 399 }

/** Reads `200` or `200-299`. @throws InvalidArgumentError */
export function readExpectation(text: string): Expectation {
  const [, from = '', to = from] = /^(\d{3})(?:-(\d{3}))?$/.exec(text) ?? []
  if (from === '' || Number(to) < Number(from))
    throw new InvalidArgumentError(`expected a status or a range such as 200-299, got \`${text}\``)
  return { from: Number(from), to: Number(to) }
}
