// The server under test: asks each of its hosts for /health through the pool, and says what came of it.
import { get } from 'node:http'

const status = (lease, to) =>
  new Promise((resolve, reject) => {
    const request = get({ path: '/health', createConnection: () => lease.socket(to) }, (response) => {
      response.resume().on('end', () => resolve(String(response.statusCode)))
    })
    request.on('error', reject)
  })

export function createServer(pool, hosts) {
  const checkOne = async ({ target, http }) => {
    try {
      return await pool.use(target, (lease) => status(lease, http), { retries: 1, timeoutMillis: 2_000, whenResting: 'dial' })
    } catch (error) {
      return error.code
    }
  }
  return { check: () => Promise.all(hosts.map(checkOne)) }
}
