import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { startPool } from '../support/pool.ts'
import { startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { kept } from './world.ts'

const ROUNDS = 20
const WINDOW_BYTES = 2 * 1024 * 1024
const block = Buffer.alloc(256 * 1024)

/** Until nothing more is taken of what is written to a channel. */
async function stalled(socket: Socket | undefined): Promise<void> {
  let written = -1
  let since = performance.now()
  await until(() => {
    if (socket?.bytesWritten !== written) since = performance.now()
    written = socket?.bytesWritten ?? 0
    return performance.now() - since > 50
  })
}

describe('a channel that is given up in the middle of a fast download', () => {
  it('leaves its window to nobody: the next channel, which has its number, is not sent more than it can take', async () => {
    await using sshd = await startSshd()
    await using server = await startTcpServer((socket) => {
      const more = (): void => {
        while (socket.writable && socket.write(block));
        socket.once('drain', more)
      }
      socket.on('error', () => {})
      more()
    })
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const to = { port: server.port }
    for (let round = 0; round < ROUNDS; round += 1) {
      const fast = await lease.connect(to)
      let bytes = 0
      fast.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      await until(() => bytes > 2 * WINDOW_BYTES)
      fast.destroy()
      // Asked for while the server still sends for the other one; nobody reads it, so that its window fills.
      const slow = await lease.connect(to)
      slow.pause()
      await once(slow, 'readable')
      await until(() => kept(pool, 'channel').length === 1)
      await stalled(server.accepted.at(-1))
      assert.equal(lease.signal.aborted, false, lease.signal.reason)
      slow.destroy()
    }
    await until(() => kept(pool, 'channel').length === 0)
    assert.equal(lease.signal.aborted, false)
    assert.equal(pool.stats.opened, 1)
  })
})
