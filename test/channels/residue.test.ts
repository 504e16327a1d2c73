import assert from 'node:assert/strict'
import { request } from 'node:http'
import { startHost } from '../pool/world.ts'
import { startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'
import { kept, text } from './world.ts'

const REQUESTS = 3_000
const WARM_UP = 500
const AT_ONCE = 25
const HEAP_BYTES = 2 * 1024 * 1024

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

describe('B18 short requests through one tunnel', () => {
  for (const [how, requests] of [
    ['connect', REQUESTS],
    ['a forward', REQUESTS / 3],
  ] as const) {
    it(`${requests} of them through ${how} leave nothing`, async () => {
      await using site = await startHost()
      const { host } = site
      await using pool = startPool()
      await using lease = await pool.acquire(host.target, { forwards: { http: { to: host.http } } })
      const { socketPath } = lease.forwards.http.address
      const ask = async () => {
        const way =
          how === 'connect' ? { createConnection: () => lease.socket(host.http) as never } : { socketPath, agent: false }
        const asked = request({ ...way, path: '/health', headers: { connection: 'close' } }).end()
        const body = new Promise<string>((resolve, reject) =>
          asked.on('error', reject).on('response', (response) => resolve(text(response))),
        )
        assert.equal(await body, 'ok')
      }
      const several = async (count: number) => {
        const lane = async () => {
          for (let left = count / AT_ONCE; left > 0; left -= 1) await ask()
        }
        await Promise.all(Array.from({ length: AT_ONCE }, lane))
        await until(() => kept(pool, 'channel').length === 0 && host.counts.openChannels === 0)
      }
      await several(WARM_UP)
      const before = heap()
      const entries = pool.resources().length
      await several(requests)
      await until(() => pool.resources().length <= entries)
      const growth = heap() - before
      assert.ok(growth < HEAP_BYTES, `the heap grew by ${growth} bytes`)
      assert.equal(host.counts.requests, requests + WARM_UP)
      assert.equal(host.counts.logins, 1)
      assert.equal(lease.signal.aborted, false)
    })
  }
})
