import type { AgentOptions } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import { invalidOption } from './invalid.ts'
import { checkObject } from './names.ts'

/** What `agentFor` was asked for: options of Node's own agent, which checks them itself, and of TLS. */
export interface ResolvedAgentOptions {
  readonly options: AgentOptions
  /** `undefined`: for http.request. */
  readonly tls: ConnectionOptions | undefined
}

/** Where a connection goes is the tunnel's business. */
function withoutPlace<T extends object>(given: T): T {
  const { host, port, path, socket, socketPath, createConnection, ...rest } = given as Record<string, unknown>
  return rest as T
}

/** The options of `agentFor`. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveAgentOptions(
  given: (AgentOptions & { tls?: true | ConnectionOptions | undefined }) | undefined,
): ResolvedAgentOptions {
  if (given === undefined) return { options: {}, tls: undefined }
  checkObject('options', given)
  const { tls, ...options } = given
  if (tls !== undefined && tls !== true && (typeof tls !== 'object' || tls === null))
    throw invalidOption('tls', 'true or an object of TLS options', tls)
  return { options: withoutPlace(options), tls: tls === true ? {} : tls && withoutPlace(tls) }
}
