import { isIP, type NetConnectOpts } from 'node:net'
import { getSystemErrorMap } from 'node:util'
import { CONNECT_FAILED, PROHIBITED } from './ssh2-inside.ts'

/** How sshd says no to a channel: a reason of RFC 4254 and a text. */
export interface Refusal {
  readonly reason: number
  readonly text: string
}

/** Where a host may connect to: loopback of this machine. To anywhere else a fleet is no way out. */
export function loopback(host: string, port: number): NetConnectOpts | Refusal {
  const isOurs = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
  if (isOurs) return { host, port }
  return isIP(host) === 0
    ? { reason: CONNECT_FAILED, text: 'Name or service not known' }
    : { reason: PROHIBITED, text: 'open failed' }
}

/** What sshd says about a connect that failed: the system's own words for TCP, none for a unix socket. */
export function refusalFor(error: Error, to: NetConnectOpts): Refusal {
  // One address of a name after the other: the last one's error is what sshd reports.
  const last: unknown = error instanceof AggregateError ? error.errors.at(-1) : error
  const number: unknown = last instanceof Error ? Reflect.get(last, 'errno') : undefined
  const words = typeof number === 'number' && !('path' in to) ? getSystemErrorMap().get(number)?.[1] : undefined
  return { reason: CONNECT_FAILED, text: words === undefined ? 'open failed' : words.charAt(0).toUpperCase() + words.slice(1) }
}
