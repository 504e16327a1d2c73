import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { closeServer } from '../../../src/testing/server.ts'
import { refusal } from '../../support/pool.ts'
import { receive, send } from '../../support/traffic.ts'
import { until } from '../../support/until.ts'
import { onBoth } from './world.ts'

const MIB = 1024 * 1024
const MUCH = process.env.WARREN_LONG === '1' ? 64 * MIB : 4 * MIB

onBoth('channels', (world) => {
  it('carry what is written there and back, and leave nothing', async () => {
    const socket = await world.lease.connect({ port: world.server.port })
    socket.end('hello')
    assert.equal((await receive(socket)).bytes, 5)
    await until(() => world.channels === 0)
  })

  it('lead to unix sockets, too', async () => {
    const socketPath = join(world.sshd.directory, 's')
    const server = createServer((socket) => socket.end('here'))
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    const socket = await world.lease.connect({ socketPath })
    assert.equal((await receive(socket)).bytes, 4)
    await closeServer(server)
  })

  it('are refused with the server’s own reason, alone', async () => {
    const error = await refusal(world.lease.connect({ port: 1 }), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.match(error.message, /could not connect to 127\.0\.0\.1:1: Connection refused/)
    const missing = await refusal(world.lease.connect({ socketPath: '/nowhere' }), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.match(missing.message, /could not connect to \/nowhere: open failed/)
    assert.equal(world.lease.signal.aborted, false)
    await until(() => world.channels === 0)
  })

  it('half-close: what is read to the end is answered after it', async () => {
    const server = await world.serve((socket) => {
      let heard = 0
      socket.on('data', (chunk) => {
        heard += chunk.length
      })
      socket.on('end', () => socket.end(String(heard)))
    })
    const socket = await world.lease.connect({ port: server.port })
    const answer = once(socket, 'data')
    await send(socket, 5 * MIB)
    assert.equal(String((await answer)[0]), String(5 * MIB))
  })

  it('half-close the other way: what the server’s side has ended is still written to', async () => {
    const heard: Buffer[] = []
    const server = await world.serve((socket) => {
      socket.end('bye')
      socket.on('data', (chunk) => heard.push(chunk))
    })
    await using forward = await world.lease.forward({ to: { port: server.port } })
    const { connect } = await import('node:net')
    const client = connect({ path: forward.address.socketPath, allowHalfOpen: true })
    assert.equal((await receive(client)).bytes, 3)
    client.end('after')
    await until(() => String(Buffer.concat(heard)) === 'after')
  })

  it('that nobody reads stop the sender, hold up nobody else, and lose nothing', async () => {
    const server = await world.serve((socket) => void send(socket, 24 * MIB).catch(() => {}))
    const socket = await world.lease.connect({ port: server.port })
    await until(() => (server.accepted[0]?.writableLength ?? 0) > 0)
    assert.equal((await world.lease.exec('head -c 3000000 /dev/zero', { maxOutputBytes: 4 * MIB })).stdout.length, 3_000_000)
    assert.ok((server.accepted[0]?.bytesWritten ?? 0) < 24 * MIB)
    assert.equal((await receive(socket)).bytes, 24 * MIB)
  })

  it('that the other side does not read stop the writer, and lose nothing', async () => {
    let pass = (): void => {}
    const server = await world.serve((socket) => {
      socket.pause()
      pass = () => {
        void receive(socket).then(({ digest }) => socket.end(digest))
        socket.resume()
      }
    })
    const socket = await world.lease.connect({ port: server.port })
    let isSent = false
    const sent = send(socket, 24 * MIB).then((passed) => {
      isSent = true
      return passed
    })
    assert.equal((await world.lease.exec('echo on')).exitCode, 0)
    assert.equal(isSent, false)
    const answer = once(socket, 'data')
    pass()
    assert.equal(String((await answer)[0]), (await sent).digest)
  })

  it('are 200 at once', async () => {
    const sockets = await Promise.all(Array.from({ length: 200 }, () => world.lease.connect({ port: world.server.port })))
    const passed = await Promise.all(sockets.map((socket) => receive(socket.end('x'.repeat(1_000)))))
    assert.ok(passed.every(({ bytes }) => bytes === 1_000))
    await until(() => world.channels === 0)
  })

  it('end, with their bytes, when the other side is reset', async () => {
    const server = await world.serve((socket) => void socket.once('data', () => socket.resetAndDestroy()))
    const socket = await world.lease.connect({ port: server.port })
    socket.on('error', () => {})
    socket.resume()
    socket.write('x')
    await until(() => socket.destroyed)
    await until(() => world.channels === 0)
  })

  it('are closed on the server’s side when they are destroyed', async () => {
    const before = world.server.open
    const socket = await world.lease.connect({ port: world.server.port })
    socket.write('unread')
    await until(() => world.server.open === before + 1)
    socket.destroy()
    await until(() => world.server.open === before && world.channels === 0)
  })

  it('fail with the loss of their connection, read or not, and do not end', async () => {
    const { relay, pool, lease } = await world.behindRelay()
    for (const isRead of [true, false]) {
      const socket = await lease.connect({ port: world.server.port })
      socket.on('end', () => assert.fail('it ended as if all had been read'))
      socket.write('x')
      if (isRead) socket.resume()
      if (isRead) continue
      const failed = once(socket, 'error')
      relay.reset()
      assert.equal((await failed)[0].code, 'ERR_LOST')
    }
    await until(() => pool.report().tunnels.length === 0)
  })

  it('that are not answered are ERR_CHANNEL_TIMEOUT, or ERR_ABORTED, and what comes late is closed', async () => {
    const { relay, pool, lease } = await world.behindRelay({ channelTimeoutMillis: 150 })
    relay.freeze()
    await refusal(lease.connect({ port: world.server.port }), 'ERR_CHANNEL_TIMEOUT', 'channel')
    const controller = new AbortController()
    const asked = refusal(lease.connect({ port: world.server.port }, { signal: controller.signal }), 'ERR_ABORTED')
    controller.abort()
    await asked
    const before = world.server.accepted.length
    relay.thaw()
    await until(() => world.server.accepted.length === before + 2)
    await until(() => world.server.open === 0)
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
  })
})

onBoth(
  'a server that permits no forwarding',
  (world) => {
    it('is ERR_PROHIBITED, for a channel alone', async () => {
      const error = await refusal(world.lease.connect({ port: world.server.port }), 'ERR_PROHIBITED', 'channel')
      assert.match(error.message, /does not permit/)
      assert.equal(String((await world.lease.exec('echo on')).stdout), 'on\n')
    })
  },
  { config: { AllowTcpForwarding: 'no' } },
)

onBoth(
  'a connection whose keys are exchanged every 256 KiB',
  (world) => {
    it(`carries ${MUCH / MIB} MiB each way at once, whole`, async () => {
      const server = await world.serve((socket) => {
        void send(socket, MUCH).catch(() => {})
        void receive(socket).then(({ digest }) => digests.push(digest))
      })
      const digests: string[] = []
      const socket = await world.lease.connect({ port: server.port })
      const [sent, got] = await Promise.all([send(socket, MUCH), receive(socket)])
      assert.equal(got.bytes, MUCH)
      assert.equal(got.digest, sent.digest)
      await until(() => digests[0] === sent.digest)
    }).timeout(240_000)
  },
  // OpenSSH's default exchange costs 60 ms of CPU, each time and on either side.
  { config: { RekeyLimit: '256K', KexAlgorithms: 'curve25519-sha256' } },
)
