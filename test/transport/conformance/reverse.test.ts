import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { refusal } from '../../support/pool.ts'
import { receive, send } from '../../support/traffic.ts'
import { until } from '../../support/until.ts'
import { onBoth } from './world.ts'

const MIB = 1024 * 1024

/** What a server's listener says to whoever connects there now. */
function at(where: { host?: string; port: number } | { path: string }): Socket {
  return connect({ allowHalfOpen: true, ...where } as never).on('error', () => {})
}
const isRefused = (where: { port: number } | { path: string }) =>
  new Promise<boolean>((resolve) => {
    const socket = at(where)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })

onBoth('reverse forwards', (world) => {
  const to = () => ({ port: world.server.port })

  it('listen on a port that the server chooses, carry, and stop', async () => {
    const forward = await world.lease.forward({ remote: { port: 0 }, to: to() })
    const { port } = forward.address
    assert.ok(port > 0)
    const socket = at({ port })
    const [sent, got] = await Promise.all([send(socket, 8 * MIB), receive(socket)])
    assert.deepEqual(got, sent)
    await forward.close()
    assert.equal(await isRefused({ port }), true)
  })

  it('listen on two ports that the server chooses, each for its own', async () => {
    const other = await world.serve((socket) => socket.end('other'))
    await using one = await world.lease.forward({ remote: { port: 0 }, to: to() })
    await using two = await world.lease.forward({ remote: { port: 0 }, to: { port: other.port } })
    assert.notEqual(one.address.port, two.address.port)
    const socket = at({ port: two.address.port })
    assert.equal((await receive(socket)).bytes, 5)
    socket.destroy()
  })

  it('listen on a unix socket of the server', async () => {
    const path = join(world.sshd.directory, `r-${Math.random()}`)
    await using forward = await world.lease.forward({ remote: { socketPath: path }, to: to() })
    assert.deepEqual(forward.address, { socketPath: path })
    const socket = at({ path })
    socket.end('hello')
    assert.equal((await receive(socket)).bytes, 5)
  })

  it('listen again where they have listened, at once', async () => {
    const first = await world.lease.forward({ remote: { port: 0 }, to: to() })
    const remote = { port: first.address.port }
    await first.close()
    for (let count = 0; count < 5; count += 1) {
      const again = await world.lease.forward({ remote, to: to() })
      await again.close()
    }
  })

  it('that the server cannot have are told, alone', async () => {
    await refusal(world.lease.forward({ remote: { port: world.server.port }, to: to() }), 'ERR_ADDRESS_IN_USE', 'forward')
    assert.equal((await world.lease.exec('true')).exitCode, 0)
  })

  it('half-close either way', async () => {
    const server = await world.serve((socket) => {
      socket.resume()
      socket.on('end', () => socket.end('after'))
    })
    await using forward = await world.lease.forward({ remote: { port: 0 }, to: { port: server.port } })
    const socket = at({ port: forward.address.port })
    socket.end('before')
    assert.equal((await receive(socket)).bytes, 5)
  })

  it('end with their connection; what was accepted is cut, and does not end as if all had been read', async () => {
    const { relay, lease } = await world.behindRelay()
    const ends: string[] = []
    const server = await world.serve((socket) => {
      socket.on('end', () => ends.push('end'))
      socket.on('error', ({ code }: NodeJS.ErrnoException) => ends.push(code ?? 'error'))
      socket.resume()
    })
    const forward = await lease.forward({ remote: { port: 0 }, to: { port: server.port } })
    const sockets = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = at({ port: forward.address.port })
        await once(socket, 'connect')
        socket.write('x')
        return socket
      }),
    )
    await until(() => server.accepted.filter(({ bytesRead }) => bytesRead === 1).length === 8)
    relay.reset()
    await until(() => ends.length === 8)
    assert.deepEqual([...new Set(ends)], ['ECONNRESET'])
    for (const socket of sockets) socket.destroy()
    await until(() => isRefused({ port: forward.address.port }))
  })

  it('that are given up before the server has answered do not go on listening', async () => {
    const { relay, lease, pool } = await world.behindRelay({ channelTimeoutMillis: 100 })
    const first = await lease.forward({ remote: { port: 0 }, to: to() })
    const { port } = first.address
    await first.close()
    relay.freeze()
    await refusal(lease.forward({ remote: { port }, to: to() }), 'ERR_CHANNEL_TIMEOUT')
    relay.thaw()
    await pool.probe(relay.through(world.sshd.target), { timeoutMillis: 2_000 })
    await until(() => isRefused({ port }))
  })
})

onBoth(
  'a server that permits no reverse forwards',
  (world) => {
    it('says so, for this call alone', async () => {
      const failed = world.lease.forward({ remote: { port: 0 }, to: { port: world.server.port } })
      const error = await failed.then(
        () => assert.fail('it listens'),
        (reason) => reason,
      )
      assert.equal(error.code, 'ERR_FORWARD_FAILED')
      assert.equal((await world.lease.exec('true')).exitCode, 0)
    })
  },
  { config: { AllowTcpForwarding: 'local' } },
)
