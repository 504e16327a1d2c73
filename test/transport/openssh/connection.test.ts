import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Lease, TunnelPool } from '../../../src/index.ts'
import { closeServer } from '../../../src/testing/server.ts'
import { type Origin, startOrigin } from '../../support/origin.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const MIB = 1024 * 1024

describe('openssh: a connection', () => {
  let sshd: Sshd
  let origin: Origin
  let pool: TunnelPool
  let lease: Lease

  before(async () => {
    ;[sshd, origin] = await Promise.all([startSshd(), startOrigin()])
  })
  after(() => Promise.all([sshd.close(), origin.close()]))
  beforeEach(async () => {
    pool = startPool({ transport: 'openssh' })
    lease = await pool.acquire(sshd.target)
  })
  afterEach(async () => {
    lease.release()
    await pool.close()
  })

  const channels = () => pool.resources().filter(({ kind }) => kind === 'channel').length
  async function listening(accept: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {})
      accept(socket)
    }).listen({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    const address = server.address()
    return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
  }

  it('asks an HTTP path, and leaves no channel', async () => {
    const socket = await lease.connect({ port: origin.port })
    socket.end('GET /health HTTP/1.0\r\n\r\n')
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    assert.match(answer, /^HTTP\/1\.[01] 200 OK/)
    await until(() => channels() === 0)
  })

  it('refuses with the server’s own reason, for this call alone', async () => {
    const error = await refusal(lease.connect({ port: 1 }), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.match(error.message, /Connection refused/)
    await refusal(lease.connect({ socketPath: '/nonexistent/socket' }), 'ERR_CHANNEL_REFUSED')
    assert.equal(String((await lease.exec('echo on')).stdout), 'on\n')
    await until(() => channels() === 0)
  })

  it('half-closes: what comes after our end is read', async () => {
    const { server, port } = await listening((socket) => {
      let heard = 0
      socket.on('data', (chunk) => {
        heard += chunk.length
      })
      socket.on('end', () => socket.end(`heard ${heard}`))
    })
    const socket = await lease.connect({ port })
    socket.end(Buffer.alloc(5 * MIB))
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    assert.equal(answer, `heard ${5 * MIB}`)
    await closeServer(server)
  })

  it('carries 32 MiB each way at once, whole', async () => {
    const data = randomBytes(32 * MIB)
    const { server, port } = await listening((socket) => socket.pipe(socket))
    const socket = await lease.connect({ port })
    const digest = createHash('sha256')
    socket.end(data)
    for await (const chunk of socket) digest.update(chunk)
    assert.equal(digest.digest('hex'), createHash('sha256').update(data).digest('hex'))
    await closeServer(server)
    await until(() => channels() === 0)
  })

  it('does not take more than its window from a source that nobody reads, and hands all of it over in the end', async () => {
    let sent = 0
    const { server, port } = await listening((socket) => {
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const pump = () => {
        while (sent < 16 * MIB) {
          sent += chunk.length
          if (!socket.write(chunk)) {
            socket.once('drain', pump)
            return
          }
        }
        socket.end()
      }
      pump()
    })
    const socket = await lease.connect({ port })
    // Another channel still goes its way.
    assert.equal((await lease.exec('head -c 3000000 /dev/zero', { maxOutputBytes: 4 * MIB })).stdout.length, 3_000_000)
    assert.ok(socket.readableLength <= 2 * MIB, `${socket.readableLength} bytes lie here`)
    let read = 0
    for await (const chunk of socket) read += (chunk as Buffer).length
    assert.equal(read, 16 * MIB)
    await closeServer(server)
  })

  it('gives a command’s output, error output, status and signal', async () => {
    const { stdout, stderr, exitCode } = await lease.exec('cat; echo err >&2; exit 3', { input: 'in' })
    assert.deepEqual([String(stdout), String(stderr), exitCode], ['in', 'err\n', 3])
    const killed = await lease.exec('kill -TERM $$')
    assert.deepEqual([killed.exitCode, killed.signal], [null, 'SIGTERM'])
    await until(() => channels() === 0)
  })

  it('bounds a command in time and output', async () => {
    await refusal(lease.exec('sleep 1', { timeoutMillis: 100 }), 'ERR_EXEC')
    await refusal(lease.exec('head -c 2000000 /dev/zero'), 'ERR_EXEC')
    await until(() => channels() === 0)
  })

  it('has the server listen on a port of its choice, and stop', async () => {
    const forward = await lease.forward({ remote: { port: 0 }, to: { port: origin.port } })
    const url = `http://127.0.0.1:${forward.address.port}/health`
    assert.equal((await fetch(url, { headers: { connection: 'close' } })).status, 200)
    await forward.close()
    await assert.rejects(fetch(url))
  })

  it('tells a server that does not listen', async () => {
    await refusal(lease.forward({ remote: { port: origin.port }, to: { port: origin.port } }), 'ERR_ADDRESS_IN_USE')
  })

  it('is lost when its ssh is killed, with the leases told, and dialled anew', async () => {
    const child = pool.resources().find(({ kind }) => kind === 'child')
    assert.ok(child)
    const socket = await lease.connect({ port: origin.port })
    socket.on('error', () => {})
    const [pid] = await sshdChildren()
    process.kill(pid ?? assert.fail('no child'), 'SIGKILL')
    await once(lease.signal, 'abort')
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
    await until(() => socket.destroyed)
    const next = await pool.acquire(sshd.target)
    assert.notEqual(next.generation, lease.generation)
    next.release()
  })

  async function sshdChildren(): Promise<number[]> {
    const { census } = await import('../../../src/testing/index.ts')
    const { children } = await census()
    return children.filter((line) => / ssh$/.test(line)).map((line) => Number(line.split(' ')[0]))
  }
})
