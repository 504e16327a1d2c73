import { InvalidArgumentError } from 'commander'
import type { DynamicForward, LocalForward, ReverseForward } from '../../api/forward.ts'
import { readRemote } from '../check/address.ts'

type Here = { readonly port: number; readonly host?: string } | { readonly socketPath: string }

const END = String.raw`\[[^\]]+\]:\d{1,5}|[^:[\]/]+:\d{1,5}|\d{1,5}|/[^:]+`
const PAIR = new RegExp(`^(?<first>${END}):(?<second>${END})$`)

function ends(text: string, option: string): [first: string, second: string] {
  const { first, second } = PAIR.exec(text)?.groups ?? {}
  if (first === undefined || second === undefined)
    throw new InvalidArgumentError(
      `${option} ${text}: expected two ends with a colon between them, each a port, host:port, [address]:port or the absolute path of a unix socket, such as 8080:127.0.0.1:80`,
    )
  return [first, second]
}

function here(text: string): Here {
  const { host, ...end } = readRemote(text) as { host?: string; port: number }
  return host === undefined ? end : { ...end, host }
}

/** Reads `-L [host:]port:host:port`, with the path of a unix socket in the place of either end. @throws InvalidArgumentError */
export function readLocal(text: string): LocalForward {
  const [listen, to] = ends(text, '-L')
  return { listen: here(listen), to: readRemote(to) }
}

/** Reads `-R [host:]port:host:port`: the server listens at the first end, and what comes in arrives at the second. @throws InvalidArgumentError */
export function readReverse(text: string): ReverseForward {
  const [remote, to] = ends(text, '-R')
  return { remote: readRemote(remote), to: here(to) }
}

/** Reads `-D [host:]port` or `-D /path`. On TCP it needs `WARREN_SOCKS_USER` and `WARREN_SOCKS_PASSWORD`, or to be said to be insecure. @throws InvalidArgumentError */
export function readDynamic(text: string, environment: NodeJS.ProcessEnv, isInsecure: boolean): DynamicForward {
  const { WARREN_SOCKS_USER: username, WARREN_SOCKS_PASSWORD: password } = environment
  const socks = username !== undefined && password !== undefined ? { username, password } : true
  const listen = here(text)
  if (socks === true && !isInsecure && !('socketPath' in listen))
    throw new InvalidArgumentError(
      `-D ${text}: every user of this machine can reach a TCP port; set WARREN_SOCKS_USER and WARREN_SOCKS_PASSWORD, name the absolute path of a unix socket instead, or say --insecure`,
    )
  return isInsecure ? { socks, listen, insecure: true } : { socks, listen }
}
