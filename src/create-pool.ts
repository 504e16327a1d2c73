import type { PoolOptions } from './api/options.ts'
import type { TunnelPool } from './api/pool.ts'
import { Pool } from './pool.ts'

/**
 * Makes a pool of SSH tunnels. Synchronous; opens nothing, and sweeps what dead pools left only when it is first used. The caller owns it
 * and ends it by `close`, `destroy` or `await using`.
 *
 * @throws TunnelError `ERR_INVALID_OPTION` that names the option, `ERR_UNSUPPORTED` on Windows
 * @example
 * await using pool = createTunnelPool()
 * const status = await pool.use({ host: '10.0.0.7', user: 'ubuntu', identity: { path: '~/.ssh/id_ed25519' } }, async (lease) => {
 *   const { stdout } = await lease.exec('uptime')
 *   return stdout.toString()
 * })
 */
export function createTunnelPool(options?: PoolOptions): TunnelPool {
  return new Pool(options)
}
