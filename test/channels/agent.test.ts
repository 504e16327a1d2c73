import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { Lease } from '../../src/api/lease.ts'
import { startOrigin } from '../support/origin.ts'
import { startPool } from '../support/pool.ts'
import { startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { kept, text } from './world.ts'

/** Trap p7: an agent whose connections come from a tunnel. */
class TunnelAgent extends Agent {
  readonly #lease: Lease

  constructor(lease: Lease) {
    super({ keepAlive: true })
    this.#lease = lease
  }

  override createConnection(options: { port?: number }): never {
    return this.#lease.socket({ port: options.port ?? 80 }) as never
  }
}

describe('a TunnelSocket and node:http', () => {
  it('p7: is what `createConnection` gives, with no agent', async () => {
    await using sshd = await startSshd()
    await using origin = await startOrigin()
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const to = { port: origin.port }
    const asked = request({ method: 'POST', path: '/echo', createConnection: () => lease.socket(to) as never })
    asked.end('a body')
    const [response] = await once(asked, 'response')
    assert.equal(await text(response), 'a body')
    await until(() => kept(pool, 'channel').length === 0)
  })

  for (const how of ['the option', 'setTimeout']) {
    it(`p6: times out by ${how}, and the channel goes with the request`, async () => {
      await using sshd = await startSshd()
      await using origin = await startOrigin()
      await using pool = startPool()
      await using lease = await pool.acquire(sshd.target)
      const agent = new TunnelAgent(lease)
      const options = { agent, port: origin.port, path: '/hang' }
      const asked = request(how === 'setTimeout' ? options : { ...options, timeout: 50 })
      if (how === 'setTimeout') asked.setTimeout(50)
      asked.on('error', () => {}).end()
      await once(asked, 'timeout')
      asked.destroy()
      await until(() => kept(pool, 'channel').length === 0)
      await until(() => origin.connections === 0)
      agent.destroy()
    })
  }

  it('is kept alive and used again; when the server ends it, it closes as any socket does and no channel is left', async () => {
    await using server = await startTcpServer((socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')),
    )
    await using sshd = await startSshd()
    await using pool = startPool()
    await using lease = await pool.acquire(sshd.target)
    const agent = new TunnelAgent(lease)
    const free = () => Object.keys(agent.freeSockets).length
    const ask = async () => {
      const asked = request({ agent, port: server.port, path: '/' }).end()
      const [response] = await once(asked, 'response')
      assert.equal(await text(response), 'ok')
      await until(() => free() === 1)
    }
    await ask()
    await ask()
    assert.equal(server.accepted.length, 1)
    server.accepted[0]?.end()
    await until(() => kept(pool, 'channel').length === 0 && server.open === 0)
    assert.equal(free(), 0)
    await ask()
    assert.equal(server.accepted.length, 2)
    agent.destroy()
    await until(() => kept(pool, 'channel').length === 0)
  })
})
