import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, connect as tlsConnect } from 'node:tls'
import { closeServer } from '../../src/testing/server.ts'
import { layGround } from '../support/ground.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'

describe('a TunnelSocket, when its channel ends', () => {
  const ground = layGround()

  const to = () => ({ port: ground.origin.port })

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
    const socket = tlsConnect({ socket: ground.lease.socket({ port }), ca: readFileSync(cert), servername: 'inside' })
    socket.write('secret')
    assert.equal(String((await once(socket, 'data'))[0]), 'secret')
    socket.destroy()
    await closeServer(server)
    rmSync(directory, { recursive: true })
  })

  it('of which the server has closed its end fails a write that can no longer arrive, also when nobody reads', async () => {
    await using server = await startTcpServer(() => {})
    const socket = await ground.lease.connect({ port: server.port })
    const failed = once(socket, 'error')
    // More than the window and the kernel's buffers take.
    socket.write(Buffer.alloc(32 * 1024 * 1024))
    await until(() => server.open === 1)
    server.accepted[0]?.resetAndDestroy()
    const [error] = await failed
    assert.equal(error.code, 'ERR_CHANNEL_REFUSED')
    await until(() => ground.pool.resources().every(({ kind }) => kind !== 'channel'))
  })

  it('that is destroyed with an error emits that one, and closes its channel', async () => {
    const socket = await ground.lease.connect(to())
    const failed = once(socket, 'error')
    socket.destroy(new Error('enough'))
    assert.equal((await failed)[0].message, 'enough')
    await until(() => ground.pool.resources().every(({ kind }) => kind !== 'channel'))
    await until(() => ground.origin.connections === 0)
  })

  it('that is closed by the server in full, ends and closes', async () => {
    await using server = await startTcpServer((socket) => socket.destroySoon())
    const socket = await ground.lease.connect({ port: server.port })
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
