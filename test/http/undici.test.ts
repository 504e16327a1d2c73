import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { type Dispatcher, fetch, request } from 'undici'
import { TunnelError } from '../../src/errors.ts'
import { dispatcherFor } from '../../src/http/undici.ts'
import type { FleetHost } from '../../src/testing/contract.ts'
import { type Fleet, startFleet } from '../../src/testing/index.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { refusal, startPool } from '../support/pool.ts'
import { certificateFor } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { held } from './world.ts'

const cause = (asked: Promise<unknown>): Promise<never> =>
  asked.then(
    () => assert.fail('it resolved'),
    (error: Error) => Promise.reject(TunnelError.is(error) ? error : error.cause),
  )

describe('dispatcherFor (ssh-warren/undici)', () => {
  let fleet: Fleet
  let origin: Origin
  const host = () => fleet.hosts[0] as FleetHost
  const open: Dispatcher[] = []
  const dispatcher = (...given: Parameters<typeof dispatcherFor>): Dispatcher => {
    const made = dispatcherFor(...given)
    open.push(made)
    return made
  }

  before(async () => {
    fleet = await startFleet()
    origin = await startOrigin({ unix: true })
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.destroy()))
  })
  after(async () => {
    await origin.close()
    await fleet.close()
  })

  it('serves fetch and request; a socket between requests is kept and holds no lease', async () => {
    await using pool = startPool()
    const through = dispatcher(pool, host().target, { port: origin.port })
    const response = await fetch('http://gpu-7/health', { dispatcher: through })
    assert.equal(await response.text(), 'ok')
    await until(() => held(pool).leases === 0)
    assert.equal(held(pool).channels, 1)
    const echo = await request('http://gpu-7/echo', { dispatcher: through, method: 'POST', body: 'hello' })
    assert.equal(await echo.body.text(), 'hello')
    await until(() => held(pool).leases === 0)
    assert.equal(held(pool).channels, 1)
  })

  it('goes to each request’s own host and port, or to a unix socket', async () => {
    await using pool = startPool()
    const own = dispatcher(pool, host().target)
    assert.equal(await (await fetch(`http://127.0.0.1:${origin.port}/health`, { dispatcher: own })).text(), 'ok')
    const unix = dispatcher(pool, host().target, { socketPath: origin.socketPath as string })
    assert.equal(await (await fetch('http://localhost/health', { dispatcher: unix })).text(), 'ok')
  })

  it('streams both ways at once, with a lease for as long as it streams', async () => {
    await using pool = startPool()
    const through = dispatcher(pool, host().target, { port: origin.port })
    const chunk = 'x'.repeat(100_000)
    let sent = 0
    const body = Readable.from(
      (async function* () {
        for (; sent < 30; sent += 1) yield chunk
      })(),
    )
    const echo = await request('http://gpu-7/echo', { dispatcher: through, method: 'POST', body })
    let received = 0
    for await (const part of echo.body) {
      received += part.length
      assert.ok(received === 30 * chunk.length || pool.stats.leases === 1)
    }
    assert.equal(received, 30 * chunk.length)
    await until(() => held(pool).leases === 0)
  })

  it('aborts: the request, its channel and its lease are gone', async () => {
    await using pool = startPool()
    const through = dispatcher(pool, host().target, { port: origin.port })
    const controller = new AbortController()
    const hanging = fetch('http://gpu-7/hang', { dispatcher: through, signal: controller.signal })
    await until(() => held(pool).channels === 1)
    controller.abort(new Error('enough'))
    await assert.rejects(hanging, /enough/)
    await until(() => held(pool).leases === 0 && held(pool).channels === 0)
  })

  it('tells the TunnelError: of the target, of the host, of a loss, of a pool that has ended', async () => {
    const pool = startPool()
    const nobody = dispatcher(pool, host().target, { port: 1 })
    await refusal(cause(fetch('http://gpu-7/', { dispatcher: nobody })), 'ERR_CHANNEL_REFUSED')
    await refusal(cause(request('http://gpu-7/', { dispatcher: nobody })), 'ERR_CHANNEL_REFUSED')
    const through = dispatcher(pool, host().target, { port: origin.port })
    const hanging = fetch('http://gpu-7/hang', { dispatcher: through })
    await until(() => held(pool).channels === 1)
    host().sever()
    await refusal(cause(hanging), 'ERR_LOST')
    assert.equal(await (await fetch('http://gpu-7/health', { dispatcher: through })).text(), 'ok')
    await pool.destroy()
    await refusal(cause(fetch('http://gpu-7/health', { dispatcher: through })), 'ERR_POOL_CLOSED')
    assert.deepEqual(held(pool), { leases: 0, channels: 0 })
  })

  it('moves to the next generation without a failed request, and does not keep a tunnel from idling', async () => {
    await using pool = startPool({ idleTimeoutMillis: 60 })
    const through = dispatcher(pool, host().target, { port: origin.port })
    const stop = new AbortController()
    let answered = 0
    const worker = async () => {
      while (!stop.signal.aborted) {
        const response = await fetch('http://gpu-7/health', { dispatcher: through })
        assert.equal(await response.text(), 'ok')
        answered += 1
      }
    }
    const workers = Promise.all(Array.from({ length: 4 }, worker))
    for (let round = 1; round <= 3; round += 1) {
      await until(() => answered > round * 30)
      await pool.retire(host().target)
    }
    stop.abort()
    await workers
    await until(() => pool.stats.tunnels.open === 0 && held(pool).channels === 0)
  })

  it('uses no socket of a tunnel that may be dead', async () => {
    await using pool = startPool({ verifyAfterMillis: 20, keepAliveIntervalMillis: 0 })
    const through = dispatcher(pool, host().target, { port: origin.port })
    const channels = host().counts.channels
    for (const expected of [1, 2]) {
      assert.equal(await (await fetch('http://gpu-7/health', { dispatcher: through })).text(), 'ok')
      assert.equal(host().counts.channels - channels, expected)
      const since = performance.now()
      await until(() => performance.now() - since > 40)
    }
  })

  describe('with TLS', () => {
    const certificate = certificateFor('gpu.example.com')
    let server: Server

    before(async () => {
      server = createServer(certificate, (asked, response) => asked.pipe(response))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    })
    after(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })

    it('checks the origin’s name, keeps the socket, and tells what went wrong', async () => {
      await using pool = startPool()
      const to = { port: (server.address() as AddressInfo).port }
      const through = dispatcher(pool, host().target, to, { tls: { ca: certificate.cert } })
      for (const body of ['one', 'two']) {
        const echo = await fetch('https://gpu.example.com/', { dispatcher: through, method: 'POST', body })
        assert.equal(await echo.text(), body)
        await until(() => held(pool).leases === 0)
        assert.equal(held(pool).channels, 1)
      }
      await assert.rejects(cause(fetch('https://other.example.com/', { dispatcher: through })), {
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      })
      const strict = dispatcher(pool, host().target, to)
      await assert.rejects(cause(fetch('https://gpu.example.com/', { dispatcher: strict })), {
        code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      })
      const nobody = dispatcher(pool, host().target, { port: 1 })
      await refusal(cause(fetch('https://gpu.example.com/', { dispatcher: nobody })), 'ERR_CHANNEL_REFUSED')
      await until(() => held(pool).leases === 0)
    })
  })

  it('refuses what is no target', () => {
    assert.throws(() => dispatcherFor(startPool(), { host: 'x' } as never), { code: 'ERR_INVALID_OPTION' })
  })
})
