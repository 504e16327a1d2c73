import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { TunnelPool } from '../../src/index.ts'
import { type FleetHost, startFleet } from '../../src/testing/index.ts'
import { refusal, startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'

describe('a channel that is slow to open', () => {
  let host: FleetHost
  let close: () => Promise<void>

  beforeEach(async () => {
    const fleet = await startFleet()
    assert.ok(fleet.hosts[0])
    host = fleet.hosts[0]
    close = () => fleet.close()
  })

  afterEach(() => close())

  const channels = (pool: TunnelPool) => pool.resources().filter(({ kind }) => kind === 'channel').length

  it('B39: 200 opens that are not answered time out; answered late, they are closed at once', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    host.muteChannels()
    const opens = Array.from({ length: 200 }, () =>
      refusal(lease.connect(host.http, { timeoutMillis: 100 }), 'ERR_CHANNEL_TIMEOUT', 'channel'),
    )
    await Promise.all(opens)
    assert.equal(channels(pool), 200)
    host.muteChannels(false)
    await until(() => host.counts.channels === 200 && host.counts.openChannels === 0)
    await until(() => channels(pool) === 0)
    assert.equal(lease.signal.aborted, false)
  })

  for (const listen of ['tcp', 'unix'] as const) {
    it(`B16: 200 clients of a ${listen} forward that leave meanwhile leave no channel`, async () => {
      await using pool = startPool()
      await using lease = await pool.acquire(host.target, { forwards: { web: { to: host.http, listen } } })
      const { address } = lease.forwards.web
      const where = 'socketPath' in address ? { path: address.socketPath } : address
      host.muteChannels()
      const clients = Array.from({ length: 200 }, () => connect(where))
      await Promise.all(clients.map((client) => once(client, 'connect')))
      await until(() => channels(pool) === 200)
      clients.forEach((client, index) => {
        if (listen === 'tcp' && index % 2 === 0) client.resetAndDestroy()
        else client.destroy()
      })
      host.muteChannels(false)
      await until(() => host.counts.channels === 200 && host.counts.openChannels === 0)
      await until(() => pool.resources().every(({ label }) => !label.startsWith('client')))
      await until(() => channels(pool) === 0)
    })
  }

  it('and was given up by its socket is closed when it opens', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    host.muteChannels()
    const socket = lease.socket(host.http)
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await until(() => channels(pool) === 1)
    socket.destroy()
    host.muteChannels(false)
    await until(() => host.counts.channels === 1 && host.counts.openChannels === 0)
    assert.equal(host.counts.requests, 0)
    await until(() => channels(pool) === 0)
  })

  it('takes what is written meanwhile, and no more than a socket would', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    host.muteChannels()
    const socket = lease.socket(host.http)
    assert.equal(socket.write('GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'), true)
    assert.equal(socket.write(Buffer.alloc(64 * 1024, '\n')), false)
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes
    })
    host.muteChannels(false)
    await until(() => answer.endsWith('ok'))
    socket.destroy()
  })
})
