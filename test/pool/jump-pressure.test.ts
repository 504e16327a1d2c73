import assert from 'node:assert/strict'
import { startOrigin } from '../support/origin.ts'
import { until } from '../support/until.ts'
import { startChain, TRANSPORTS } from './chain.ts'
import { makePool } from './world.ts'

for (const transport of TRANSPORTS)
  describe(`back-pressure through a jump (${transport})`, () => {
    it('holds the host whose data nobody reads, and no other behind the same jump', async () => {
      await using origin = await startOrigin()
      await using chain = await startChain({ hosts: 2 })
      await using pool = makePool({ transport, maxBufferedBytes: 256 * 1024 })
      const [slow, other] = await Promise.all(chain.targets.map((target) => pool.acquire(target)))
      assert.ok(slow && other)
      const bytes = 32 * 1024 * 1024
      const socket = await slow.connect({ port: origin.port })
      socket.write(`GET /bytes/${bytes} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      socket.pause()
      // As much as the windows on the way let in.
      let seen = -1
      await until(async () => {
        const before = seen
        seen = chain.hosts[0]?.counts.channels === 1 ? socket.readableLength : -1
        return seen > 0 && seen === before
      })
      for (let times = 0; times < 5; times += 1)
        assert.equal((await other.exec('echo not held', { timeoutMillis: 5_000 })).stdout.toString(), 'not held\n')
      let read = 0
      for await (const chunk of socket) read += (chunk as Buffer).length
      assert.ok(read > bytes)
      for (const lease of [slow, other]) lease.release()
    })
  })
