import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Lease } from '../../src/api/lease.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { until } from '../support/until.ts'
import { makePool, startHost } from './world.ts'

const ways: Array<[how: string, open: (lease: Lease, origin: Origin) => Promise<Duplex>, leave: (stream: Duplex) => void]> = [
  ['destroys its socket', (lease, { port }) => lease.connect({ port }), (stream) => stream.destroy()],
  ['stops reading and destroys its socket', (lease, { port }) => lease.connect({ port }), (stream) => stream.pause().destroy()],
  ['breaks off its connection to a forward', through, (stream) => stream.destroy()],
  ['resets its connection to a forward', through, (stream) => (stream as ReturnType<typeof connect>).resetAndDestroy()],
  ['ends its connection to a forward and breaks it off', through, (stream) => void stream.pause().end(() => stream.destroy())],
]

async function through(lease: Lease, { port }: Origin): Promise<Duplex> {
  const { address } = await lease.forward({ to: { port }, listen: 'tcp' })
  return connect(address.port, address.host)
}

describe('B18 a channel whose client leaves in the middle of its data', () => {
  for (const [how, open, leave] of ways) {
    it(`is closed and forgotten when the client ${how}`, async () => {
      await using site = await startHost()
      await using origin = await startOrigin()
      await using pool = makePool()
      const lease = await pool.acquire(site.target)
      const channels = () => pool.resources().filter(({ kind, label }) => kind === 'channel' || label.startsWith('client'))
      for (let round = 0; round < 3; round += 1) {
        const stream = await open(lease, origin)
        stream.on('error', () => {})
        stream.write('GET /bytes/50000000 HTTP/1.1\r\nhost: origin\r\n\r\n')
        await once(stream, 'data')
        assert.ok(channels().length > 0)
        leave(stream)
        await until(() => site.host.counts.openChannels === 0)
        await until(() => channels().length === 0)
      }
      await until(() => origin.connections === 0)
      lease.release()
    })
  }
})
