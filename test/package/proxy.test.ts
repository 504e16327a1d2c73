import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Target } from '../../src/index.ts'
import { Door } from '../../src/testing/door.ts'
import { closeServer } from '../../src/testing/server.ts'
import { exited, spawnFixture } from '../support/child.ts'
import { refusal, startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit } from '../support/tarpit.ts'
import { until } from '../support/until.ts'

type Connect = NonNullable<Target['connect']>
const example = (name: string) => import(new URL(`../../examples/proxy/${name}.mjs`, import.meta.url).href)
const { throughHttpProxy }: { throughHttpProxy: (proxy: string) => Connect } = await example('http-connect')
const { throughSocks5 }: { throughSocks5: (proxy: { host: string; port: number }) => Connect } = await example('socks5')

/** An HTTP proxy that allows CONNECT to whoever knows the password. */
async function startHttpProxy(password: string) {
  const sockets = new Set<Duplex>()
  const asked: string[] = []
  const server = createServer((_, response) => response.writeHead(403).end())
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    sockets.add(client)
    client.on('error', () => {})
    const to = request.url ?? ''
    asked.push(to)
    const expected = `Basic ${Buffer.from(`me:${password}`).toString('base64')}`
    if (request.headers['proxy-authorization'] !== expected)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const { hostname, port } = new URL(`tcp://${to}`)
    const upstream = connect({ host: hostname, port: Number(port) })
    sockets.add(upstream)
    upstream.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    // The server's first words come with the answer, in one packet.
    upstream.once('data', (words) => {
      client.write(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), words]))
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    asked,
    url: (login = `me:${encodeURIComponent(password)}`) => `http://${login}@127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await closeServer(server)
    },
  }
}

/** A SOCKS5 proxy: OpenSSH's own, through another host. */
async function startSocksProxy(through: Sshd) {
  const door = await Door.open((socket) => socket.destroy())
  const { port } = door
  await door.close()
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes', 'LogLevel=ERROR'].flatMap(
    (one) => ['-o', one],
  )
  const child = spawnFixture(
    'ssh',
    [
      '-F',
      'none',
      '-N',
      '-D',
      `127.0.0.1:${port}`,
      '-i',
      through.keyPath,
      '-p',
      String(through.port),
      ...options,
      `${through.user}@127.0.0.1`,
    ],
    ['ignore', 'ignore', 'ignore'],
  )
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const probe = connect({ host: '127.0.0.1', port })
        probe
          .once('connect', () => resolve(true))
          .once('error', () => resolve(false))
          .once('connect', () => probe.destroy())
      }),
    { within: 5_000, what: 'ssh -D listens' },
  )
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill()
      await exited(child)
    },
  }
}

describe('examples of `connect`', () => {
  let sshd: Sshd
  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  const reaches = async (connect: Connect) => {
    await using pool = startPool()
    const target = { ...sshd.target, connect }
    await using lease = await pool.acquire(target)
    assert.equal((await lease.exec('echo through')).stdout.toString(), 'through\n')
    // Another target with the same function shares its connection.
    await using again = await pool.acquire({ ...sshd.target, connect })
    assert.equal(again.generation, lease.generation)
    return pool.stats.opened
  }

  it('an HTTP proxy that allows CONNECT', async () => {
    await using proxy = await startHttpProxy('secret/word')
    assert.equal(await reaches(throughHttpProxy(proxy.url())), 1)
    assert.deepEqual(proxy.asked, [`127.0.0.1:${sshd.port}`])
  })

  it('one that does not let us through is told as such, and nothing is left', async () => {
    await using proxy = await startHttpProxy('secret')
    await using pool = startPool()
    const connect = throughHttpProxy(proxy.url('me:wrong'))
    const error = await refusal(pool.acquire({ ...sshd.target, connect }), 'ERR_UNREACHABLE', 'connect')
    assert.match(error.message, /the proxy answered 407/)
    assert.doesNotMatch(error.message + String(error.cause), /wrong/)
  })

  it('one that does not answer ends with the dial', async () => {
    await using silent = await startTarpit()
    await using pool = startPool({ openTimeoutMillis: 200 })
    const connect = throughHttpProxy(`http://127.0.0.1:${silent.port}`)
    await refusal(pool.acquire({ ...sshd.target, connect }), 'ERR_OPEN_TIMEOUT', 'connect')
    await until(() => pool.resources().length === 0)
  })

  it('a SOCKS5 proxy', async () => {
    await using far = await startSshd()
    await using proxy = await startSocksProxy(far)
    assert.equal(await reaches(throughSocks5({ host: '127.0.0.1', port: proxy.port })), 1)
    assert.match(far.log(), /Accepted publickey/)
  })

  it('a SOCKS5 proxy that cannot reach the host', async () => {
    await using far = await startSshd()
    await using proxy = await startSocksProxy(far)
    await using pool = startPool()
    const connect = throughSocks5({ host: '127.0.0.1', port: proxy.port })
    const error = await refusal(pool.acquire({ ...sshd.target, port: 1, connect }), 'ERR_UNREACHABLE', 'connect')
    assert.ok(error.cause instanceof Error)
  })
})
