import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, connect as tlsConnect } from 'node:tls'
import type { Lease, TunnelPool } from '../../src/index.ts'
import { closeServer } from '../../src/testing/server.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'

describe('a TunnelSocket, when its channel ends', () => {
  let sshd: Sshd
  let origin: Origin
  let pool: TunnelPool
  let lease: Lease

  before(async () => {
    sshd = await startSshd()
    origin = await startOrigin()
  })

  after(async () => {
    await Promise.all([sshd.close(), origin.close()])
  })

  beforeEach(async () => {
    pool = startPool()
    lease = await pool.acquire(sshd.target)
  })

  afterEach(async () => {
    lease.release()
    await pool.close()
  })

  const to = () => ({ port: origin.port })

  it('carries TLS', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tls-'))
    const [key, cert] = [join(directory, 'key'), join(directory, 'cert')]
    const words = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=inside',
    ]
    execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => socket.pipe(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const socket = tlsConnect({ socket: lease.socket({ port }), ca: readFileSync(cert), servername: 'inside' })
    socket.write('secret')
    assert.equal(String((await once(socket, 'data'))[0]), 'secret')
    socket.destroy()
    await closeServer(server)
    rmSync(directory, { recursive: true })
  })

  it('of which the server has closed its end fails a write that can no longer arrive, also when nobody reads', async () => {
    await using server = await startTcpServer(() => {})
    const socket = await lease.connect({ port: server.port })
    const failed = once(socket, 'error')
    // More than the window and the kernel's buffers take.
    socket.write(Buffer.alloc(32 * 1024 * 1024))
    await until(() => server.open === 1)
    server.accepted[0]?.resetAndDestroy()
    const [error] = await failed
    assert.equal(error.code, 'ERR_CHANNEL_REFUSED')
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
  })

  it('that is destroyed with an error emits that one, and closes its channel', async () => {
    const socket = await lease.connect(to())
    const failed = once(socket, 'error')
    socket.destroy(new Error('enough'))
    assert.equal((await failed)[0].message, 'enough')
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
    await until(() => origin.connections === 0)
  })

  it('that is closed by the server in full, ends and closes', async () => {
    await using server = await startTcpServer((socket) => socket.destroySoon())
    const socket = await lease.connect({ port: server.port })
    const events: string[] = []
    for (const event of ['end', 'finish', 'close', 'error']) socket.on(event, () => events.push(event))
    socket.resume()
    socket.end()
    await once(socket, 'close')
    assert.deepEqual(
      events.filter((event) => event !== 'finish'),
      ['end', 'close'],
    )
  })
})
