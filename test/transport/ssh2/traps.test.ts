import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { startHostile } from '../../support/hostile.ts'
import { type Origin, startOrigin } from '../../support/origin.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startRelay } from '../../support/relay.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { startSynHole } from '../../support/syn-hole.ts'
import { startTarpit } from '../../support/tarpit.ts'
import { until } from '../../support/until.ts'

const millisOf = async (work: Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work
  return performance.now() - began
}

describe('ssh2: the traps of facts p, against a real sshd', () => {
  let sshd: Sshd
  let origin: Origin

  before(async () => {
    sshd = await startSshd()
    origin = await startOrigin()
  })

  after(async () => {
    await Promise.all([sshd.close(), origin.close()])
  })

  const health = () => ({ port: origin.port })

  it('j: the socket of a tunnel sends without delay', async () => {
    const made: Socket[] = []
    const note = (message: unknown) => void made.push((message as { socket: Socket }).socket)
    subscribe('net.client.socket', note)
    await using pool = startPool()
    await using _lease = await pool.acquire(sshd.target)
    unsubscribe('net.client.socket', note)
    const [socket] = made.filter(({ remotePort }) => remotePort === sshd.port)
    const noDelay = Object.getOwnPropertySymbols(socket ?? {}).find((symbol) => symbol.description === 'kSetNoDelay')
    assert.ok(socket !== undefined && noDelay !== undefined, 'this Node keeps TCP_NODELAY elsewhere')
    assert.equal(Reflect.get(socket, noDelay), true)
  })

  it('p1, B12: a peer that never ends its side does not keep the socket after a close', async () => {
    await using relay = await startRelay(sshd)
    const pool = startPool({ closeGraceMillis: 150 })
    const lease = await pool.acquire(relay.through(sshd.target))
    lease.release()
    relay.swallowFin()
    const millis = await millisOf(pool.close())
    assert.ok(millis > 100 && millis < 1_000, `closed in ${millis} ms`)
    assert.deepEqual(pool.resources(), [])
  })

  it('p2: the end of a dial that still connects, or waits for the banner, does not wait for its deadline', async () => {
    await using hole = await startSynHole()
    await using tarpit = await startTarpit()
    const [address = ''] = hole.addresses
    for (const at of [{ host: address, port: hole.port }, { port: tarpit.port }]) {
      const pool = startPool()
      const dial = refusal(pool.acquire({ ...sshd.target, ...at }), 'ERR_POOL_CLOSED')
      await until(() => pool.resources().some(({ kind }) => kind === 'socket'))
      const millis = await millisOf(Promise.all([dial, pool.destroy()]))
      assert.ok(millis < 500, `ended in ${millis} ms`)
      assert.deepEqual(pool.resources(), [])
    }
  })

  it('p3: two errors for one failure are one rejection and nothing unheard', async () => {
    await using host = await startHostile({ config: { algorithms: { cipher: ['aes256-cbc'] } } })
    await using pool = startPool()
    for (let count = 0; count < 10; count += 1) {
      await refusal(pool.acquire(host.target), 'ERR_KEX')
      pool.reset(host.target)
    }
  })

  it('p4, B35: a frozen peer is lost after interval × (count + 1), and so is what waits for it', async () => {
    await using relay = await startRelay(sshd)
    await using pool = startPool({ keepAliveIntervalMillis: 100, keepAliveCountMax: 2 })
    await using lease = await pool.acquire(relay.through(sshd.target))
    relay.freeze()
    const opening = refusal(lease.connect(health()), 'ERR_LOST')
    const millis = await millisOf(once(lease.signal, 'abort'))
    assert.ok(millis > 200 && millis < 900, `lost after ${millis} ms`)
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
    await opening
  })

  it('p4: without keepalives what waits for a frozen peer is bounded all the same', async () => {
    await using relay = await startRelay(sshd)
    await using pool = startPool({ keepAliveIntervalMillis: 0, channelTimeoutMillis: 150 })
    await using lease = await pool.acquire(relay.through(sshd.target))
    relay.freeze()
    await refusal(lease.connect(health()), 'ERR_CHANNEL_TIMEOUT', 'channel')
    const { lastVerifiedAt } = await pool.probe(relay.through(sshd.target), { timeoutMillis: 100 })
    assert.ok(lastVerifiedAt !== undefined && lastVerifiedAt.getTime() < Date.now() - 100)
  })

  it('p5: a lost connection is an error to who reads and to who does not, never an end', async () => {
    await using relay = await startRelay(sshd)
    await using pool = startPool()
    await using lease = await pool.acquire(relay.through(sshd.target))
    const [reader, idler] = await Promise.all([lease.connect(health()), lease.connect(health())])
    const ended: unknown[] = []
    for (const socket of [reader, idler]) socket.on('end', () => ended.push(socket))
    reader.resume()
    idler.pause()
    const errors = [reader, idler].map(async (socket) => (await once(socket, 'error'))[0])
    relay.reset()
    for (const error of await Promise.all(errors)) assert.equal(error.code, 'ERR_LOST')
    assert.deepEqual(ended, [])
    for (const socket of [reader, idler]) assert.equal(socket.destroyed, true)
  })

  it('p6: a socket through a tunnel has the timeout that node:http sets on it', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const createConnection = () => lease.socket(health()) as never
    const agent = Object.assign(new Agent(), { createConnection })
    for (const request of [get({ path: '/hang', createConnection }).setTimeout(50), get({ path: '/hang', agent, timeout: 50 })]) {
      await once(request, 'timeout')
      const failed = once(request, 'error')
      request.destroy(new Error('enough'))
      assert.equal((await failed)[0].message, 'enough')
    }
    await until(() => origin.connections === 0)
  })

  it('p7: a request with createConnection and no agent goes through the tunnel', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const request = get({ host: 'nonexistent.invalid', path: '/health', createConnection: () => lease.socket(health()) as never })
    const [response] = await once(request, 'response')
    assert.equal(await text(response), 'ok')
  })

  it('p8: an end from the other side leaves ours open until we end it', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: origin.halfClosePort })
    let isClosed = false
    socket.once('close', () => {
      isClosed = true
    })
    socket.end('all of it')
    assert.equal(await text(socket), 'all of it')
    await until(() => isClosed)
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
  })

  it('p9: opens that a frozen server does not answer cost no descriptor, and nothing is left of them once it does', async () => {
    await using relay = await startRelay(sshd)
    await using pool = startPool({ channelTimeoutMillis: 200, keepAliveIntervalMillis: 0 })
    await using lease = await pool.acquire(relay.through(sshd.target))
    const descriptors = (await import('node:fs')).readdirSync('/proc/self/fd').length
    relay.freeze()
    const opens = Array.from({ length: 300 }, () => refusal(lease.connect(health()), 'ERR_CHANNEL_TIMEOUT'))
    await until(() => pool.resources().filter(({ kind }) => kind === 'channel').length === 300)
    assert.equal((await import('node:fs')).readdirSync('/proc/self/fd').length, descriptors)
    await Promise.all(opens)
    relay.thaw()
    await until(() => pool.resources().every(({ kind }) => kind !== 'channel'))
    await until(() => origin.connections === 0)
  })

  it('p10: a peer whose sshd is killed is lost at once, whichever way it tells', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect(health())
    const [error] = await Promise.all([once(socket, 'error'), once(lease.signal, 'abort'), sshd.killSessions()])
    assert.equal(error[0].code, 'ERR_LOST')
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
  })
})
