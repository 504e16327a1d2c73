import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Remote } from '../../src/api/forward.ts'
import type { Lease } from '../../src/api/lease.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { refusal, startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { kept, text } from './world.ts'

async function body(lease: Lease, to: Remote, path = '/health'): Promise<string> {
  const socket = lease.socket(to)
  const asked = request({ path, createConnection: () => socket as never, headers: { connection: 'close' } }).end()
  const [response] = await once(asked, 'response')
  return text(response)
}

describe('connect, through a real sshd', () => {
  let sshd: Sshd
  let origin: Origin
  before(async () => {
    sshd = await startSshd()
    origin = await startOrigin({ ipv6: true, unix: true })
  })
  after(async () => {
    await sshd.close()
    await origin.close()
  })

  const targets: Array<[what: string, to: () => Remote]> = [
    ['a port of 127.0.0.1 by default', () => ({ port: origin.port })],
    ['an address and a port', () => ({ host: '127.0.0.1', port: origin.port })],
    ['an IPv6 address (B65)', () => ({ host: '::1', port: origin.ipv6Port ?? 0 })],
    ['a unix socket', () => ({ socketPath: origin.socketPath ?? '' })],
    ['a name, which the server looks up', () => ({ host: 'localhost', port: origin.port })],
  ]
  for (const [what, to] of targets) {
    it(`reaches ${what}`, async () => {
      await using pool = startPool()
      await using lease = await pool.acquire(sshd.target)
      assert.equal(await body(lease, to()), 'ok')
      await until(() => kept(pool, 'channel').length === 0)
    })
  }

  it('gives a socket that is open, and says what it leads to', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = await lease.connect({ port: origin.port })
    assert.equal(socket.connecting, false)
    assert.equal(socket.remoteAddress, `127.0.0.1:${origin.port}`)
    await until(() => origin.connections === 1)
    socket.destroy()
    await until(() => origin.connections === 0)
    await until(() => kept(pool, 'channel').length === 0)
  })

  it("rejects with the server's own words when nobody listens, and the tunnel goes on", async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const error = await refusal(lease.connect({ port: 1 }), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.match(error.message, /127\.0\.0\.1:1: Connection refused$/)
    assert.ok(error.cause instanceof Error)
    assert.equal(error.retryable, true)
    await refusal(lease.connect({ socketPath: `${sshd.directory}/nothing` }), 'ERR_CHANNEL_REFUSED', 'channel')
    await refusal(lease.connect({ host: 'no-such-host.invalid', port: 80 }), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.deepEqual(kept(pool, 'channel'), [])
    assert.equal(await body(lease, { port: origin.port }), 'ok')
    assert.equal(pool.stats.opened, 1)
  })

  it("tells a refusal of `socket` as its 'error', once, and closes it", async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const socket = lease.socket({ port: 1 })
    assert.equal(socket.connecting, true)
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    socket.on('connect', () => assert.fail('it never was'))
    await new Promise((resolve) => socket.once('close', resolve))
    assert.deepEqual(
      errors.map((error) => (error as { code?: string }).code),
      ['ERR_CHANNEL_REFUSED'],
    )
    assert.equal(socket.destroyed, true)
  })

  it('rejects at once for a signal that has aborted, and asks the server nothing', async () => {
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const reason = new Error('changed my mind')
    const error = await refusal(lease.connect({ port: origin.port }, { signal: AbortSignal.abort(reason) }), 'ERR_ABORTED')
    assert.equal(error.cause, reason)
    assert.deepEqual(kept(pool, 'channel'), [])
  })
})

describe('B68 connect, where the server does not permit it', () => {
  for (const [keyword, value] of [
    ['AllowTcpForwarding', 'no'],
    ['PermitOpen', '127.0.0.1:9'],
    ['DisableForwarding', 'yes'],
  ] as const) {
    it(`${keyword} ${value}: ERR_PROHIBITED, which no retry helps, and the tunnel stays`, async () => {
      await using sshd = await startSshd({ config: { [keyword]: value } })
      await using origin = await startOrigin()
      await using pool = startPool()
      await using lease = await pool.acquire(sshd.target)
      for (let round = 0; round < 3; round += 1) {
        const error = await refusal(lease.connect({ port: origin.port }), 'ERR_PROHIBITED', 'channel')
        assert.match(error.message, new RegExp(`does not permit a connection to 127\\.0\\.0\\.1:${origin.port}`))
        assert.equal(error.retryable, false)
      }
      assert.equal((await lease.exec('echo alive')).stdout.toString(), 'alive\n')
      assert.equal(lease.signal.aborted, false)
      assert.equal(pool.stats.opened, 1)
      assert.equal(origin.requests, 0)
      assert.equal(sshd.log().match(/Accepted publickey/g)?.length, 1)
    })
  }
})
