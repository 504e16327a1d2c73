import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Target } from '../../../src/index.ts'
import { Door } from '../../../src/testing/door.ts'
import { makeKeyPair } from '../../../src/testing/keys.ts'
import { closeServer } from '../../../src/testing/server.ts'
import { Sockets } from '../../../src/testing/sockets.ts'
import { startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startTarpit } from '../../support/tarpit.ts'

const stranger = (port: number, host = '127.0.0.1'): Target => ({
  host,
  port,
  user: 'nobody',
  identity: { key: makeKeyPair().private },
  hostKey: 'insecure-accept-any',
})

/** A TCP server that does with each connection what `serve` says. */
async function rawServer(serve: (socket: Socket) => void): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Sockets()
  const door = await Door.open((socket) => serve(sockets.add(socket)))
  return {
    port: door.port,
    [Symbol.asyncDispose]: async () => void (await Promise.all([door.close(), sockets.close()])),
  }
}

describe('ssh2: a dial that fails says where', () => {
  it('a name that does not exist: ERR_DNS at dns', async () => {
    await using pool = startPool()
    const error = await refusal(pool.acquire(stranger(22, 'nonexistent.invalid')), 'ERR_DNS', 'dns')
    assert.match(error.message, /nonexistent\.invalid/)
  })

  it('nobody listens: ERR_REFUSED at connect', async () => {
    const door = await Door.open(() => {})
    await door.close()
    await using pool = startPool()
    await refusal(pool.acquire(stranger(door.port)), 'ERR_REFUSED', 'connect')
  })

  it('no route: ERR_UNREACHABLE at connect', async () => {
    await using pool = startPool()
    await refusal(pool.acquire(stranger(22, '255.255.255.255')), 'ERR_UNREACHABLE', 'connect')
  })

  it('a mute server: ERR_OPEN_TIMEOUT at banner', async () => {
    await using tarpit = await startTarpit()
    await using pool = startPool({ openTimeoutMillis: 150 })
    await refusal(pool.acquire(stranger(tarpit.port)), 'ERR_OPEN_TIMEOUT', 'banner')
    assert.equal(tarpit.connections, 1)
  })

  it('a server that stalls after its KEXINIT: ERR_OPEN_TIMEOUT at kex', async () => {
    await using host = await startHostile({
      serve: (_connection, insides) => {
        // What would answer the client's part of the key exchange.
        Object.defineProperty(insides, '_parse', { get: () => () => Number.POSITIVE_INFINITY, set: () => {} })
      },
    })
    await using pool = startPool({ openTimeoutMillis: 200 })
    await refusal(pool.acquire(host.target), 'ERR_OPEN_TIMEOUT', 'kex')
  })

  it('a server that stalls after the login request: ERR_OPEN_TIMEOUT at auth', async () => {
    await using host = await startHostile({ authenticate: () => {} })
    await using pool = startPool({ openTimeoutMillis: 300 })
    await refusal(pool.acquire(host.target), 'ERR_OPEN_TIMEOUT', 'auth')
  })

  it('reset before the banner: ERR_RESET at banner', async () => {
    await using server = await rawServer((socket) => socket.resetAndDestroy())
    await using pool = startPool()
    await refusal(pool.acquire(stranger(server.port)), 'ERR_RESET')
  })

  it('closed before the banner, as by a full MaxStartups: ERR_RESET at banner', async () => {
    await using server = await rawServer((socket) => socket.end())
    await using pool = startPool()
    const error = await refusal(pool.acquire(stranger(server.port)), 'ERR_RESET', 'banner')
    assert.match(error.message, /MaxStartups/)
    assert.equal(error.retryable, true)
  })

  it("closed with sshd's own excuse: ERR_RESET at banner", async () => {
    await using server = await rawServer((socket) => socket.end('Exceeded MaxStartups\r\n'))
    await using pool = startPool()
    await refusal(pool.acquire(stranger(server.port)), 'ERR_RESET', 'banner')
  })

  it('closed during the login: ERR_RESET at auth', async () => {
    await using host = await startHostile({ authenticate: (_context, connection) => connection.end() })
    await using pool = startPool()
    await refusal(pool.acquire(host.target), 'ERR_RESET', 'auth')
  })

  it('an HTTP server: ERR_PROTOCOL at banner', async () => {
    const server = createHttpServer((_request, response) => response.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    await using pool = startPool()
    const error = await refusal(pool.acquire(stranger((server.address() as AddressInfo).port)), 'ERR_PROTOCOL', 'banner')
    assert.match(error.message, /does not speak SSH/)
    assert.equal(error.retryable, false)
    await closeServer(server)
  })

  for (const [what, text] of [
    ['one endless line', 'x'.repeat(1_000)],
    ['endless lines', `${'x'.repeat(100)}\r\n`],
  ] as const) {
    it(`more than 64 KiB before the identification, ${what}: ERR_PROTOCOL at banner`, async () => {
      let sent = 0
      await using server = await rawServer((socket) => {
        const more = (): void => {
          while (socket.writable) {
            sent += text.length
            if (!socket.write(text)) break
          }
        }
        socket.on('drain', more)
        more()
      })
      await using pool = startPool()
      await refusal(pool.acquire(stranger(server.port)), 'ERR_PROTOCOL', 'banner')
      assert.ok(sent > 64 * 1024)
    })
  }

  it('lines before the identification are no fault, and neither is one that comes byte by byte', async () => {
    await using host = await startHostile({ config: { greeting: 'mind the gap' } })
    await using server = await rawServer((socket) => {
      socket.pause()
      void import('node:net').then(({ connect }) => {
        const upstream = connect({ host: '127.0.0.1', port: host.port, noDelay: true })
        socket.on('close', () => upstream.destroy())
        upstream.on('close', () => socket.destroy()).on('error', () => {})
        let left = 60
        upstream.on('data', async (bytes: Buffer) => {
          upstream.pause()
          for (let at = 0; at < bytes.length; ) {
            const size = left > 0 ? 1 : bytes.length
            socket.write(bytes.subarray(at, at + size))
            at += size
            left -= 1
            await new Promise((resolve) => setImmediate(resolve))
          }
          upstream.resume()
        })
        socket.pipe(upstream)
      })
    })
    await using pool = startPool()
    await using lease = await pool.acquire({ ...host.target, port: server.port })
    assert.equal(lease.signal.aborted, false)
  })

  it('no algorithm in common: ERR_KEX at kex', async () => {
    await using host = await startHostile({ config: { algorithms: { cipher: ['aes256-cbc'] } } })
    await using pool = startPool()
    await refusal(pool.acquire(host.target), 'ERR_KEX', 'kex')
  })

  it('nothing accepted: ERR_AUTH at auth', async () => {
    await using host = await startHostile({ authenticate: (context) => context.reject(['publickey']) })
    await using pool = startPool()
    await refusal(pool.acquire(host.target), 'ERR_AUTH', 'auth')
  })
})
