import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { type FleetHost, startFleet } from '../../src/testing/index.ts'
import { startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'

const REQUESTS = 3_000
const AT_ONCE = 20
const REQUEST = 'GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

/** What the heap holds once all garbage is out of it, those promises and streams that settle a few turns later among it. */
async function heap(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    global.gc?.()
  }
  return process.memoryUsage().heapUsed
}

/** Bytes of heap per request that stay, over the last two thirds of them. */
async function slope(requests: number, request: () => Promise<unknown>): Promise<number> {
  const third = requests / 3
  const many = async (): Promise<number> => {
    const lanes = Array.from({ length: AT_ONCE }, async () => {
      for (let done = 0; done < third / AT_ONCE; done += 1) await request()
    })
    await Promise.all(lanes)
    return await heap()
  }
  const before = await many()
  await many()
  return ((await many()) - before) / (2 * third)
}

describe('B18: what short requests leave on a tunnel that stays', () => {
  // What is compiled while code grows warm stays, too.
  before(async () => {
    await using fleet = await startFleet()
    const host = fleet.hosts[0] as FleetHost
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    for (let request = 0; request < REQUESTS / 3; request += 1) await exchange(await lease.connect(host.http))
  })

  for (const [requests, through] of [
    [REQUESTS, 'connect'],
    [REQUESTS, 'a unix forward'],
    [REQUESTS, 'probes'],
    [REQUESTS, 'commands'],
  ] as const) {
    it(`${requests} of them by ${through}: nothing`, async () => {
      await using fleet = await startFleet()
      const host = fleet.hosts[0] as FleetHost
      await using pool = startPool()
      await using lease = await pool.acquire(host.target, { forwards: { web: { to: host.http } } })
      const entries = pool.resources().length
      const { socketPath } = lease.forwards.web.address
      const ask: Record<typeof through, () => Promise<unknown>> = {
        connect: async () => exchange(await lease.connect(host.http)),
        'a unix forward': () => exchange(connect({ path: socketPath })),
        probes: () => pool.probe(host.target),
        commands: () => lease.exec('true'),
      }
      const bytes = await slope(requests, ask[through])
      // A megabyte per 10,000.
      assert.ok(bytes < 105, `${bytes.toFixed(0)} bytes per request`)
      await until(() => host.counts.openChannels === 0)
      await until(() => pool.resources().length === entries)
    })
  }
})

async function exchange(stream: Duplex): Promise<void> {
  let answer = ''
  stream.on('data', (bytes: Buffer) => {
    answer += bytes
  })
  const ended = once(stream, 'end')
  stream.write(REQUEST)
  await ended
  assert.ok(answer.endsWith('ok'), answer)
  stream.destroy()
}
