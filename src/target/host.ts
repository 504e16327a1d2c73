import { TunnelError } from '../errors.ts'
import { invalidOption, invalidSecret } from '../options/invalid.ts'

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*\\.?$`)
/** What getaddrinfo may take for a number in some base, as in `010.0.0.1`, `127.1` or `0x7f000001`: not the address it looks like. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`)
const ZONE = /^[A-Za-z0-9._-]{1,64}$/
const LONGEST = 255

/** The shortest form of an IPv6 address, so that one address has one text; undefined when it is none. */
function canonicalIPv6(text: string): string | undefined {
  const [address = '', zone, ...rest] = text.split('%')
  if (rest.length > 0 || (zone !== undefined && !ZONE.test(zone))) return undefined
  if (!/^[0-9a-f:.]+$/i.test(address) || !address.includes(':')) return undefined
  if (!URL.canParse(`http://[${address}]`)) return undefined
  // A mapped IPv4 address stays as it is: OpenSSH, too, writes it with dots, which URL does not.
  const canonical = address.includes('.') ? address.toLowerCase() : new URL(`http://[${address}]`).hostname.slice(1, -1)
  return zone === undefined ? canonical : `${canonical}%${zone}`
}

/** The one text for a DNS name or an IP address, in lower case and without brackets; undefined when it is neither. */
export function canonicalHost(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  if (text.includes(':')) return canonicalIPv6(text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text)
  const name = text.toLowerCase()
  if (IPV4.test(name)) return name
  return NAME.test(name) && !ENDS_IN_NUMBER.test(name) ? name : undefined
}

/** Whether a canonical host is an address and not a name. */
export function isAddress(host: string): boolean {
  return host.includes(':') || IPV4.test(host)
}

/** A host for use beside a port: an IPv6 address in brackets. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The canonical form of a host. @throws TunnelError `ERR_INVALID_OPTION` */
export function checkHost(given: unknown, name: string): string {
  if (given === undefined) throw new TunnelError('ERR_INVALID_OPTION', `\`${name}\` is required: a DNS name or an IP address`)
  const canonical = typeof given === 'string' ? canonicalHost(given) : undefined
  if (canonical !== undefined) return canonical
  const expected = 'a DNS name in ASCII or an IP address, without user, port or scheme'
  // What stands before an @ may hold a password.
  if (typeof given === 'string' && given.includes('@')) throw invalidSecret(name, expected, given)
  throw invalidOption(name, expected, given)
}
