import { isIP } from 'node:net'
import type { InspectorOptions, InspectorServer } from '../../api/inspector.ts'
import type { TunnelPool } from '../../api/pool.ts'
import { TunnelError } from '../../errors.ts'
import { Ledger } from '../../owners/ledger.ts'
import { Scope } from '../../owners/scope.ts'
import { ownWebServer } from '../../owners/web-server.ts'
import { answer } from './answers.ts'
import { Audience } from './audience.ts'
import { Door } from './door.ts'
import { History } from './history.ts'
import { readPageFiles } from './page-files.ts'

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/
const OPTIONS = ['port', 'host', 'allowRemote']

function checked({ port = 0, host = '127.0.0.1', allowRemote, ...others }: InspectorOptions) {
  const [unknown] = Object.keys(others)
  const wrong = (message: string) => new TunnelError('ERR_INVALID_OPTION', message)
  if (unknown !== undefined) throw wrong(`there is no option \`${unknown}\`; there are ${OPTIONS.join(', ')}`)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw wrong(`\`port\` must be an integer from 0 to 65535, got ${port}`)
  if (host !== 'localhost' && isIP(host) === 0) throw wrong(`\`host\` must be an IP address or localhost, got ${host}`)
  const isRemote = !LOOPBACK.test(host)
  if (isRemote && allowRemote !== true)
    throw wrong(`\`host\` ${host} can be reached from other machines, in the clear: say \`allowRemote: true\` if that is meant`)
  return { port, host, isRemote }
}

/**
 * Serves a page that shows a pool as it lives: read-only, on loopback, for whoever has the URL. Owned by the caller, who closes it; the
 * process does not stay for it. While nobody looks it keeps a bounded history of rare facts and one count every two seconds.
 *
 * @throws TunnelError `ERR_INVALID_OPTION`; rejects with `ERR_ADDRESS_IN_USE`, `ERR_FORWARD_FAILED`, `ERR_LOCAL_LIMIT`, `ERR_UNSUPPORTED`
 * @example
 * const inspector = await createInspectorServer(pool, { port: 7070 })
 * console.log(inspector.url) // http://127.0.0.1:7070/#…
 */
export async function createInspectorServer(pool: TunnelPool, options: InspectorOptions = {}): Promise<InspectorServer> {
  const { port: wanted, host, isRemote } = checked(options)
  const files = await readPageFiles()
  const scope = new Scope(new Ledger(), 'inspector')
  const history = new History(pool)
  const audience = new Audience(pool, history)
  let door: Door | undefined
  const close = async () => {
    audience.end()
    history.end()
    scope.force()
    await scope.emptied()
  }
  try {
    const { port } = await ownWebServer({ host, port: wanted }, scope, (request, response) => {
      if (door === undefined) response.destroy()
      else answer(request, response, { door, audience, files })
    })
    door = new Door(port, isRemote)
    const shown = host.includes(':') ? `[${host}]` : host
    return { url: `http://${shown}:${port}/#${door.token}`, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
