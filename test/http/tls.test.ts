import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { FleetHost } from '../../src/testing/contract.ts'
import { type Fleet, startFleet } from '../../src/testing/index.ts'
import { refusal, startPool } from '../support/pool.ts'
import { certificateFor } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { ask, held } from './world.ts'

describe('pool.agentFor with tls', () => {
  const certificate = certificateFor('gpu.example.com', 'localhost')
  const seen: Array<{ servername: string | false; alpn: string | false | null; resumed: boolean }> = []
  let server: Server
  let fleet: Fleet
  let to: { port: number }

  before(async () => {
    fleet = await startFleet()
    server = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (request, response) => {
      const socket = request.socket as TLSSocket & { servername: string | false }
      seen.push({ servername: socket.servername, alpn: socket.alpnProtocol, resumed: socket.isSessionReused() })
      request.pipe(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    to = { port: (server.address() as AddressInfo).port }
  })
  after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await fleet.close()
  })
  const host = () => fleet.hosts[0] as FleetHost

  it('names the host it asks for, speaks http/1.1, and is parked and reused as any other', async () => {
    await using pool = startPool()
    const agent = pool.agentFor(host().target, to, { tls: { ca: certificate.cert } })
    const wanted = { host: 'gpu.example.com', port: 443, path: '/' }
    assert.deepEqual(await ask(agent, wanted, 'one'), { status: 200, text: 'one', reused: false })
    assert.deepEqual(seen.pop(), { servername: 'gpu.example.com', alpn: 'http/1.1', resumed: false })
    await until(() => held(pool).leases === 0)
    assert.equal(held(pool).channels, 1)
    assert.deepEqual(await ask(agent, wanted, 'two'), { status: 200, text: 'two', reused: true })
    await pool.retire(host().target)
    assert.deepEqual(await ask(agent, wanted, 'three'), { status: 200, text: 'three', reused: false })
    assert.deepEqual(seen.pop(), { servername: 'gpu.example.com', alpn: 'http/1.1', resumed: true })
    agent.destroy()
    await until(() => held(pool).channels === 0)
  })

  it('takes a servername by option, and true for the system’s own trust', async () => {
    await using pool = startPool()
    const named = pool.agentFor(host().target, to, { tls: { ca: certificate.cert, servername: 'gpu.example.com' } })
    assert.equal((await ask(named, { host: '10.0.0.1' }, 'x')).text, 'x')
    assert.equal(seen.pop()?.servername, 'gpu.example.com')
    const strict = pool.agentFor(host().target, to, { tls: true })
    await assert.rejects(ask(strict, { host: 'localhost' }, 'x'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    await until(() => held(pool).leases === 0)
    const other = pool.agentFor(host().target, to, { tls: { ca: certificate.cert } })
    await assert.rejects(ask(other, { host: 'other.example.com' }, 'x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  it('tells the TunnelError, and ends with the pool', async () => {
    const pool = startPool()
    const nobody = pool.agentFor(host().target, { port: 1 }, { tls: true })
    await refusal(ask(nobody, { host: 'localhost' }), 'ERR_CHANNEL_REFUSED')
    const agent = pool.agentFor(host().target, to, { tls: { ca: certificate.cert } })
    await ask(agent, { host: 'localhost' }, 'x')
    await pool.destroy()
    assert.deepEqual(held(pool), { leases: 0, channels: 0 })
    await until(() => Object.keys(agent.freeSockets).length === 0)
    await refusal(ask(agent, { host: 'localhost' }), 'ERR_POOL_CLOSED')
  })
})
