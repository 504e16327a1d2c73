import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { kept, text } from './world.ts'

/** Reads nothing. */
const deaf = (socket: Socket): void => void socket.pause().on('error', () => {})

describe('a TunnelSocket, as a socket', () => {
  let sshd: Sshd
  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  it('may be written to before it is open, and ended: all of it arrives, in order', async () => {
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = lease.socket({ port: server.port })
    const order: string[] = []
    for (const event of ['connect', 'ready', 'end', 'close']) socket.once(event, () => order.push(event))
    socket.write('one ')
    socket.write('two ')
    socket.end('three')
    assert.equal(socket.connecting, true)
    assert.equal(await text(socket), 'one two three')
    await until(() => order.includes('close'))
    assert.deepEqual(order, ['connect', 'ready', 'end', 'close'])
  })

  it("emits 'connect' again for whoever calls connect() late, as pg does, and once for whoever calls early", async () => {
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const late = await lease.connect({ port: server.port })
    const heard = once(late, 'connect')
    assert.equal(late.connect(5432, 'db'), late)
    await heard
    const early = lease.socket({ port: server.port })
    let connects = 0
    early.on('connect', () => {
      connects += 1
    })
    early.connect()
    await once(early, 'ready')
    early.write('x')
    await once(early, 'data')
    assert.equal(connects, 1)
    late.destroy()
    early.destroy()
  })

  it('tells of idle time, after the last byte either way, and ends nothing by that', async () => {
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: server.port })
    let timeouts = 0
    let lastAt = 0
    assert.equal(
      socket.setTimeout(60, () => {
        timeouts += 1
      }),
      socket,
    )
    socket.on('data', () => {
      lastAt = performance.now()
      if (performance.now() - began < 200) socket.write('x')
    })
    const began = performance.now()
    socket.write('x')
    await once(socket, 'timeout')
    assert.ok(performance.now() - began >= 200, 'it was never idle before')
    assert.ok(performance.now() - lastAt >= 55)
    assert.equal(timeouts, 1)
    assert.equal(socket.destroyed, false)
    socket.setTimeout(1)
    socket.setTimeout(0)
    const listener = () => assert.fail('taken back')
    socket.setTimeout(60, listener)
    socket.setTimeout(0, listener)
    socket.write('x')
    await once(socket, 'data')
    socket.destroy()
    await once(socket, 'close')
    socket.setTimeout(1)
  })

  it('has the rest of what drivers call, to be chained', async () => {
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: server.port })
    assert.equal(socket.setNoDelay(true).setKeepAlive(true, 1_000).unref().ref(), socket)
    socket.destroy()
    assert.equal(socket.connecting, false)
  })

  it('destroySoon sends what was written, also before it is open, and then leaves', async () => {
    const heard: Buffer[] = []
    await using server = await startTcpServer((socket) => socket.on('data', (bytes) => heard.push(bytes)))
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const bytes = 3_000_000
    const to = { port: server.port }
    for (const open of [() => lease.connect(to), () => lease.socket(to)]) {
      heard.length = 0
      const socket = await open()
      socket.write(Buffer.alloc(bytes, 'x'))
      socket.destroySoon()
      await once(socket, 'close')
      await until(() => Buffer.concat(heard).length === bytes)
      await until(() => kept(pool, 'channel').length === 0)
      for (const accepted of server.accepted) accepted.destroy()
    }
  })

  it('says false to more than the server takes, and drains when it takes it', async () => {
    await using server = await startTcpServer(deaf)
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: server.port })
    const block = Buffer.alloc(256 * 1024)
    let written = 0
    let isFull = false
    const fill = async () => {
      while (!isFull) {
        written += block.length
        if (socket.write(block)) continue
        const drained = once(socket, 'drain').then(() => true)
        const waited = new Promise<boolean>((resolve) => setTimeout(resolve, 300, false))
        isFull = !(await Promise.race([drained, waited]))
      }
    }
    await fill()
    // The window, and what sshd and the kernel hold: not what we were given.
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes were taken`)
    assert.ok(socket.writableLength > 0 && socket.writableNeedDrain)
    const drained = once(socket, 'drain')
    server.accepted[0]?.resume()
    await drained
    assert.equal(socket.writableLength, 0)
    socket.destroy()
  })

  it('that nobody reads hears of the loss of its connection all the same', async () => {
    await using server = await startTcpServer((socket) => socket.on('error', () => {}).write('unread'))
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: server.port })
    await until(() => socket.readableLength > 0)
    sshd.killSessions()
    await new Promise((resolve) => socket.once('close', resolve))
    assert.equal((socket.errored as { code?: string } | null)?.code, 'ERR_LOST')
    assert.equal(await new Promise((resolve) => socket.write('x', (error) => resolve(error instanceof Error))), true)
  })
})
