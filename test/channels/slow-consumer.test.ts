import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { receive } from '../support/traffic.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const BLOCK = Buffer.alloc(64 * 1024, 'x')

/** Sends without end, as fast as it is taken. */
function gush(socket: Socket): void {
  const more = (): void => {
    while (socket.writable && socket.write(BLOCK));
  }
  socket.on('drain', more)
  more()
}

/** Sends so many bytes and ends. */
const pour = (bytes: number) => (socket: Socket) => {
  let left = bytes
  const more = (): void => {
    while (left > 0) {
      const size = Math.min(left, BLOCK.length)
      left -= size
      if (!socket.write(BLOCK.subarray(0, size))) return
    }
    socket.end()
  }
  socket.on('drain', more)
  more()
}

describe('slow consumers', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
  })

  after(() => sshd.close())

  it('make reading stop above maxBufferedBytes, and go on when there is room', async () => {
    await using source = await startTcpServer(gush)
    await using pool = startPool({ maxBufferedBytes: MIB, verifyAfterMillis: 0 })
    await using lease = await pool.acquire(sshd.target)
    const [first, second] = await Promise.all([lease.connect({ port: source.port }), lease.connect({ port: source.port })])
    const received = { first: 0, second: 0 }
    // Both lie unread until the bound is reached.
    await until(() => source.open === 2)
    first.on('data', (chunk: Buffer) => {
      received.first += chunk.length
    })
    second.on('data', (chunk: Buffer) => {
      received.second += chunk.length
    })
    await until(() => received.first > 8 * MIB && received.second > 8 * MIB, { within: 10_000 })
    first.destroy()
    second.destroy()
  })

  it('do not make the tunnel look dead while reading has stopped', async () => {
    await using source = await startTcpServer(gush)
    await using pool = startPool({ maxBufferedBytes: MIB, keepAliveIntervalMillis: 50, keepAliveCountMax: 1 })
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: source.port })
    socket.pause()
    await until(() => source.open === 1)
    for (let trip = 0; trip < 3; trip += 1) {
      const health = await pool.probe(sshd.target)
      assert.equal(health.state, 'serving')
    }
    const beside = await lease.connect({ port: source.port })
    beside.destroy()
    const began = performance.now()
    await until(() => performance.now() - began > 400)
    assert.equal(lease.signal.aborted, false)
    socket.destroy()
  })

  it('of one host do not stop the reading of another', async () => {
    const bytes = 8 * MIB
    await using second = await startSshd()
    await using source = await startTcpServer(gush)
    await using other = await startTcpServer(pour(bytes))
    await using pool = startPool({ maxBufferedBytes: MIB })
    await using slow = await pool.acquire(sshd.target)
    await using fast = await pool.acquire(second.target)
    const socket = await slow.connect({ port: source.port })
    socket.pause()
    await until(() => source.open === 1)
    await until(() => pool.probe(second.target).then(({ state }) => state === 'serving'))
    assert.equal((await receive(await fast.connect({ port: other.port }))).bytes, bytes)
    socket.destroy()
  })
})
