import assert from 'node:assert/strict'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type Target, TunnelError } from '../../../src/index.ts'
import { Door } from '../../../src/testing/door.ts'
import { startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { resolver } from '../../support/resolver.ts'
import { startSynHole } from '../../support/syn-hole.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { until } from '../../support/until.ts'

const { resolveTo } = resolver

const stranger = (host: string, port: number): Target => ({
  host,
  port,
  user: 'u',
  identity: { password: 'x' },
  hostKey: 'insecure-accept-any',
})

/** Passes everything on to another port, and back. */
function join(socket: Socket, port: number): void {
  const upstream = connect({ host: '127.0.0.1', port })
  socket.pipe(upstream).pipe(socket)
  socket.on('close', () => upstream.destroy())
  upstream.on('close', () => socket.destroy()).on('error', () => {})
}

describe('ssh2: how a host is reached', () => {
  afterEach(() => resolver.restore())

  it('by its second address within a second when the first swallows SYN, and nothing is left of the first', async () => {
    await using hole = await startSynHole()
    await using host = await startHostile()
    await using relay = await startTcpServer((socket) => join(socket, host.port), { port: hole.port })
    resolveTo('twofold.test', [hole.addresses[0] ?? '', '127.0.0.1'])
    await using pool = startPool()
    const began = performance.now()
    await using lease = await pool.acquire({ ...host.target, host: 'twofold.test', port: hole.port })
    const millis = performance.now() - began
    assert.ok(millis < 1_000, `up after ${millis} ms`)
    assert.equal(pool.health({ ...host.target, host: 'twofold.test', port: hole.port }).remoteAddress, `127.0.0.1:${hole.port}`)
    await until(() => pool.resources().filter(({ kind }) => kind === 'socket').length === 1)
    assert.equal(lease.signal.aborted, false)
    assert.equal(relay.open, 1)
  })

  it('by its second address at once when the first refuses', async () => {
    await using host = await startHostile()
    resolveTo('twofold.test', ['127.9.9.9', '127.0.0.1'])
    await using pool = startPool()
    await using _lease = await pool.acquire({ ...host.target, host: 'twofold.test' })
  })

  it('not at all: the error of the first address is told', async () => {
    const door = await Door.open(() => {})
    await door.close()
    resolveTo('nowhere.test', ['127.9.9.9', '255.255.255.255'])
    await using pool = startPool()
    const error = await refusal(pool.acquire(stranger('nowhere.test', door.port)), 'ERR_REFUSED', 'connect')
    assert.match(error.message, /127\.9\.9\.9/)
    resolveTo('nowhere.test', ['255.255.255.255', '127.9.9.9'])
    pool.reset(stranger('nowhere.test', door.port))
    await using other = startPool()
    await refusal(other.acquire(stranger('nowhere.test', door.port)), 'ERR_UNREACHABLE', 'connect')
  })

  it('by names of which at most two are looked up at once, however many hosts are dialled', async () => {
    let most = 0
    let isWatching = true
    const watch = (): void => {
      const asked = process.getActiveResourcesInfo().filter((kind) => kind === 'GetAddrInfoReqWrap').length
      most = Math.max(most, asked)
      if (isWatching) setImmediate(watch)
    }
    await using pool = startPool()
    const dials = Array.from({ length: 20 }, (_, index) =>
      refusal(pool.acquire(stranger(`nonexistent-${index}.invalid`, 22)), 'ERR_DNS', 'dns'),
    )
    watch()
    await Promise.all(dials)
    isWatching = false
    assert.equal(most, 2)
  })

  it('by names that nobody waits for any more are not looked up', async () => {
    const asked: string[] = []
    const waiting: Array<() => void> = []
    dns.lookup = ((host: string, _options: unknown, answer: (error: Error) => void) => {
      asked.push(host)
      waiting.push(() => answer(Object.assign(new Error('late'), { code: 'ENOTFOUND' })))
    }) as typeof dns.lookup
    syncBuiltinESMExports()
    const pool = startPool()
    const dials = Array.from({ length: 20 }, (_, index) =>
      refusal(pool.acquire(stranger(`slow-${index}.test`, 22)), 'ERR_POOL_CLOSED'),
    )
    await until(() => asked.length === 2)
    await Promise.all([...dials, pool.destroy()])
    for (const answer of waiting) answer()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(asked.length, 2)
  })

  for (const [what, give, code] of [
    ['throws', async () => Promise.reject(new Error('no way')), 'ERR_UNREACHABLE'],
    ['gives something else', async () => ({}) as Duplex, 'ERR_UNREACHABLE'],
    ['gives a stream that has ended', async () => new Duplex({ read() {} }).destroy(), 'ERR_RESET'],
    ['throws one of ours', async () => Promise.reject(new TunnelError('ERR_REFUSED', 'the proxy said no')), 'ERR_REFUSED'],
  ] as const) {
    it(`by a \`connect\` of its own that ${what}: ${code}`, async () => {
      await using pool = startPool()
      await refusal(pool.acquire({ ...stranger('h', 22), connect: give }), code)
    })
  }

  it('by a `connect` of its own that is late: what it brings is destroyed', async () => {
    let bring: (stream: Duplex) => void = () => {}
    let told: AbortSignal | undefined
    const give: Target['connect'] = ({ signal }) => {
      told = signal
      return new Promise((resolve) => {
        bring = resolve
      })
    }
    const pool = startPool()
    const dial = refusal(pool.acquire({ ...stranger('h', 22), connect: give }), 'ERR_POOL_CLOSED')
    await until(() => told)
    await Promise.all([dial, pool.destroy()])
    assert.equal(told?.aborted, true)
    const stream = new Duplex({ read() {} })
    bring(stream)
    await until(() => stream.destroyed)
  })

  it('by a `connect` of its own: the tunnel is as good as any', async () => {
    await using host = await startHostile()
    await using pool = startPool()
    const dial: Target['connect'] = async () => connect({ host: '127.0.0.1', port: host.port })
    await using lease = await pool.acquire({ ...host.target, host: 'h', port: 22, connect: dial })
    assert.equal(lease.signal.aborted, false)
  })
})
