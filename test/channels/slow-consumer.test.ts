import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { receive } from '../support/traffic.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const SLOW = 20
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

describe('B53: slow consumers', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
  })

  after(() => sshd.close())

  async function throughput(stream: Duplex, bytes: number): Promise<number> {
    const began = performance.now()
    assert.equal((await receive(stream)).bytes, bytes)
    stream.end()
    return bytes / (performance.now() - began)
  }

  it('twenty of them cost less than 64 MiB, and others on the connection keep half of their pace', async () => {
    const bytes = 48 * MIB
    await using source = await startTcpServer(gush)
    await using other = await startTcpServer(pour(bytes))
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const pace = async () => throughput(await lease.connect({ port: other.port }), bytes)
    const alone = await pace()
    global.gc?.()
    const before = process.memoryUsage().rss
    const { address } = await lease.forward({ to: { port: source.port } })
    const slow = await Promise.all([
      ...Array.from({ length: SLOW / 2 }, () => lease.connect({ port: source.port })),
      ...Array.from({ length: SLOW / 2 }, async () => connect({ path: address.socketPath }).pause()),
    ])
    await until(() => source.open === SLOW)
    const sent = () => source.accepted.reduce((sum, socket) => sum + socket.bytesWritten, 0)
    await until(
      async () => {
        const before = sent()
        for (let trip = 0; trip < 50; trip += 1) await pool.probe(sshd.target)
        return sent() === before
      },
      { within: 10_000, what: 'the sources have stopped' },
    )
    global.gc?.()
    const grown = (process.memoryUsage().rss - before) / MIB
    assert.ok(grown < 64, `${grown.toFixed(1)} MiB more`)
    const paces = [await pace(), await pace()]
    // The better one: other programs of the machine take their share, too.
    assert.ok(Math.max(...paces) > alone / 2, `${paces} bytes/ms beside them, ${alone} alone`)
    for (const stream of slow) stream.destroy()
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
  }).timeout(30_000)

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
