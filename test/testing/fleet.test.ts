import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { ClientChannel } from 'ssh2'
import { TunnelError } from '../../src/errors.ts'
import { census, startFleet } from '../../src/testing/index.ts'
import { startOrigin } from '../support/origin.ts'
import { collected, RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

describe('startFleet', () => {
  it('starts hosts that differ in port and host key and let the same key in', async () => {
    await using fleet = await startFleet({ hosts: 5 })
    assert.equal(new Set(fleet.targets.map(({ port }) => port)).size, 5)
    assert.equal(new Set(fleet.targets.map(({ hostKey }) => JSON.stringify(hostKey))).size, 5)
    assert.deepEqual(
      fleet.targets,
      fleet.hosts.map(({ target }) => target),
    )
    for (const { target, counts } of fleet.hosts) {
      await using raw = await RawClient.connect(target)
      await raw.roundTrip()
      assert.equal(counts.logins, 0, 'counts are a copy')
    }
    assert.deepEqual(
      fleet.hosts.map(({ counts }) => [counts.connections, counts.logins]),
      Array(5).fill([1, 1]),
    )
  })

  it('answers GET /health on each host by itself, and counts it there', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [first, second] = fleet.hosts
    assert.ok(first && second && 'port' in first.http)
    await using raw = await RawClient.connect(first.target)
    for (let request = 1; request <= 3; request += 1) {
      const channel = await raw.channel(first.http.port)
      channel.write(HEALTH)
      const answer = (await collected(channel)).toString()
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      assert.match(answer, /\r\n\r\nok$/)
    }
    assert.equal(first.counts.requests, 3)
    assert.equal(first.counts.channels, 3)
    assert.equal(second.counts.requests, 0)
    await until(() => first.counts.openChannels === 0)
  })

  it('carries megabytes both ways unharmed, and each end on its own', async () => {
    await using origin = await startOrigin()
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using raw = await RawClient.connect(host.target)
    const sent = randomBytes(6 * 1024 * 1024)
    const channel = await raw.channel(origin.halfClosePort)
    channel.end(sent)
    const received = await collected(channel)
    assert.equal(createHash('sha256').update(received).digest('hex'), createHash('sha256').update(sent).digest('hex'))
    await until(() => host.counts.openChannels === 0 && origin.connections === 0)
  })

  it('listens for the client and brings connections back, until told otherwise', async () => {
    await using fleet = await startFleet()
    const [target] = fleet.targets
    assert.ok(target)
    await using raw = await RawClient.connect(target)
    raw.client.on('tcp connection', (_details, accept) => {
      const channel: ClientChannel = accept()
      channel.pipe(channel)
    })
    const port = await new Promise<number>((resolve, reject) => {
      raw.client.forwardIn('127.0.0.1', 0, (error, bound) => (error ? reject(error) : resolve(bound)))
    })
    const socket = connect({ host: '127.0.0.1', port })
    socket.end('there and back')
    assert.equal((await collected(socket)).toString(), 'there and back')
    await new Promise<void>((resolve) => raw.client.unforwardIn('127.0.0.1', port, () => resolve()))
    const [error] = await once(connect({ host: '127.0.0.1', port }), 'error')
    assert.equal(error.code, 'ECONNREFUSED')
  })

  it('is reached through a host of another fleet when it is behind it', async () => {
    await using outer = await startFleet()
    const [bastion] = outer.hosts
    assert.ok(bastion)
    await using inner = await startFleet({ behind: bastion })
    const [target] = inner.targets
    assert.ok(target)
    const { host, port, user, identity, hostKey } = bastion.target
    assert.deepEqual(target.jumps, [{ host, port, user, identity, hostKey }])
    await using first = await RawClient.connect(bastion.target)
    const channel = await first.channel(target.port ?? 0)
    await using second = await RawClient.connect(target, { sock: channel })
    assert.equal((await second.exec('echo inner')).stdout, 'inner\n')
    assert.equal(inner.hosts[0]?.counts.logins, 1)
    assert.equal(bastion.counts.openChannels, 1)
  })

  it('frees all it holds at close, whatever is under way, and again does nothing', async () => {
    await using origin = await startOrigin()
    const baseline = await census()
    const fleet = await startFleet({ hosts: 3 })
    const [frozen, refusing, deaf] = fleet.hosts
    assert.ok(frozen && refusing && deaf)
    const clients = await Promise.all(fleet.targets.map((target) => RawClient.connect(target)))
    for (const raw of clients) {
      await raw.channel(origin.halfClosePort)
      await new Promise((resolve) => raw.client.forwardIn('127.0.0.1', 0, resolve))
      await raw.session('cat')
      await raw.session('sleep 60')
    }
    frozen.freeze()
    refusing.refuse()
    deaf.swallowFin()
    await Promise.all([fleet.close(), fleet.close()])
    await fleet.close()
    // The sockets of the clients have been closed under them.
    await until(() => clients.every((raw) => raw.socket.closed))
    await until(() => origin.connections === 0)
    const now = await census()
    assert.deepEqual(now.listening, baseline.listening)
    assert.equal(now.descriptors, baseline.descriptors)
    assert.equal(now.handles.TCPSocketWrap, baseline.handles.TCPSocketWrap)
    assert.equal(now.handles.TCPServerWrap, baseline.handles.TCPServerWrap)
  })

  it('survives whatever clients do at any moment of a login', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    const turns = Array.from({ length: 60 }, (_, index) => index)
    await Promise.all(
      turns.map(async (turn) => {
        const socket = connect({ host: '127.0.0.1', port: host.target.port ?? 0 })
        socket.on('error', () => {})
        if (turn % 3 === 0) socket.write('not SSH at all\r\n')
        if (turn % 3 === 1) socket.write(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), randomBytes(500)]))
        await once(socket, 'data')
        const closed = once(socket, 'close')
        if (turn % 2 === 0) socket.resetAndDestroy()
        else socket.destroy()
        await closed
      }),
    )
    await using raw = await RawClient.connect(host.target)
    assert.equal((await raw.exec('echo alive')).stdout, 'alive\n')
    assert.equal(host.counts.connections, 61)
    assert.equal(host.counts.logins, 1)
  })

  it('ends a command by the signal the client sends', async () => {
    await using fleet = await startFleet()
    const [target] = fleet.targets
    assert.ok(target)
    await using raw = await RawClient.connect(target)
    const channel = await raw.session('echo begun; sleep 60')
    await once(channel, 'data')
    channel.signal('USR1')
    const [code, signal] = await once(channel, 'close')
    assert.deepEqual([code, signal], [null, 'SIGUSR1'])
  })

  it('stays closed, whatever its switches are told', async () => {
    const fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    host.refuse()
    await fleet.close()
    host.refuse(false)
    host.refuse()
    host.thaw()
    host.sever()
    const [error] = await once(connect({ host: '127.0.0.1', port: host.target.port ?? 0 }), 'error')
    assert.equal(error.code, 'ECONNREFUSED')
  })

  it('starts a thousand hosts in little time', async () => {
    const started = performance.now()
    await using fleet = await startFleet({ hosts: 1_000 })
    const millis = performance.now() - started
    assert.ok(millis < 3_000, `${millis} ms`)
    assert.equal(fleet.hosts.length, 1_000)
    const last = fleet.targets.at(-1)
    assert.ok(last)
    await using raw = await RawClient.connect(last)
    await raw.roundTrip()
  })

  it('refuses a number of hosts that is none', async () => {
    for (const hosts of [-1, 1.5, Number.NaN]) {
      await assert.rejects(startFleet({ hosts }), (error) => TunnelError.is(error) && error.code === 'ERR_INVALID_OPTION')
    }
  })
})
