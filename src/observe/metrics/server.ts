import type { TunnelPool } from '../../api/pool.ts'
import { TunnelError } from '../../errors.ts'
import { Ledger } from '../../owners/ledger.ts'
import { Scope } from '../../owners/scope.ts'
import { ownWebServer } from '../../owners/web-server.ts'

/** Serves a pool's metrics at http://127.0.0.1:<port>/metrics. Rejects with `ERR_UNSUPPORTED` without prom-client, or as a listener does. */
export async function serveMetrics(pool: TunnelPool, wanted: number): Promise<{ url: string; close(): Promise<void> }> {
  const { exposeMetrics } = await import('./prometheus.ts').catch((cause) => {
    throw new TunnelError('ERR_UNSUPPORTED', 'metrics need prom-client, which is not installed: npm install prom-client', {
      cause,
    })
  })
  const { Registry } = await import('prom-client')
  const registry = new Registry()
  const stop = exposeMetrics(pool, { registry })
  const scope = new Scope(new Ledger(), 'metrics')
  const close = async () => {
    stop()
    scope.force()
    await scope.emptied()
  }
  try {
    const { port } = await ownWebServer({ host: '127.0.0.1', port: wanted }, scope, ({ method, url }, response) => {
      if (method !== 'GET' || url !== '/metrics') {
        response.writeHead(method === 'GET' ? 404 : 405).end()
        return
      }
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
    })
    return { url: `http://127.0.0.1:${port}/metrics`, close }
  } catch (error) {
    await close()
    throw error
  }
}
