import type { Remote } from '../api/forward.ts'
import { checkHost } from '../target/host.ts'
import { invalidOption } from './invalid.ts'
import { checkNames, checkObject } from './names.ts'
import { absolutePath, check, listenPort, path, port } from './rules.ts'

/** One end of a forward, complete. */
export type ResolvedRemote = { readonly port: number; readonly host: string } | { readonly socketPath: string }

const NAMES: ReadonlySet<string> = new Set(['port', 'host', 'socketPath'])
const EXPECTED = '{ port, host } or { socketPath }'
const LOOPBACK = '127.0.0.1'

function resolveEnd(
  given: Partial<Record<'port' | 'host' | 'socketPath', unknown>>,
  name: string,
  isListening: boolean,
): ResolvedRemote {
  checkObject(name, given, EXPECTED)
  checkNames(given, NAMES, name)
  if (given.socketPath !== undefined) {
    if (given.port !== undefined || given.host !== undefined) throw invalidOption(name, `either ${EXPECTED}, not both`, given)
    return { socketPath: check(isListening ? absolutePath : path, `${name}.socketPath`, given.socketPath) }
  }
  if (given.port === undefined) throw invalidOption(name, EXPECTED, given)
  const host = given.host === undefined ? LOOPBACK : checkHost(given.host, `${name}.host`)
  return { port: check(isListening ? listenPort : port, `${name}.port`, given.port), host }
}

/** Checks and copies where to connect to. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveRemote(given: Remote, name = 'to'): ResolvedRemote {
  return resolveEnd(given, name, false)
}

/** Checks and copies where to listen: port 0 is any free one, a socket path is absolute. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveListening(given: Remote, name: string): ResolvedRemote {
  return resolveEnd(given, name, true)
}
