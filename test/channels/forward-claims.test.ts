import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LocalForward, TcpAddress, UnixAddress } from '../../src/api/forward.ts'
import { startFleet } from '../../src/testing/index.ts'
import { refusal, startPool } from '../support/pool.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { clientOf, kept, knock, listeners } from './world.ts'

describe('who holds a forward', () => {
  for (const listen of ['unix', 'tcp'] as const) {
    it(`shares it with all who ask for the same; it goes with the last of them (${listen})`, async () => {
      await using fleet = await startFleet()
      const [host] = fleet.hosts
      assert.ok(host)
      await using pool = startPool()
      const spec: LocalForward = { to: host.http, listen }
      const [one, two] = await Promise.all([
        pool.acquire(host.target, { forwards: { a: spec } }),
        pool.acquire(host.target, { forwards: { b: spec, again: spec } }),
      ])
      const address = one.forwards.a.address as UnixAddress | TcpAddress
      const late = await one.forward(spec)
      for (const forward of [two.forwards.b, two.forwards.again, late]) assert.deepEqual(forward.address, address)
      one.release()
      assert.equal(await knock(address), 'open')
      await two.forwards.b.close()
      await two.forwards.b.close()
      assert.equal(await knock(address), 'open')
      await two.forwards.again.close()
      assert.equal(await knock(address), listen === 'tcp' ? 'ECONNREFUSED' : 'ENOENT')
      two.release()
      assert.equal(pool.stats.opened, 1)
    })
  }

  it('cuts nobody else who leaves: a connection through it goes on, after the last holder, too', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using server = await startTcpServer(echo)
    await using pool = startPool()
    const forwards = { echo: { to: { port: server.port } } }
    const [one, two] = await Promise.all([pool.acquire(host.target, { forwards }), pool.acquire(host.target, { forwards })])
    const client = clientOf(one.forwards.echo.address)
    const said = async (words: string) => {
      client.write(words)
      const [bytes] = await once(client, 'data')
      assert.equal(String(bytes), words)
    }
    await said('hello')
    one.release()
    await said('one has left')
    two.release()
    await said('so have all')
    assert.notEqual(await knock(two.forwards.echo.address), 'open')
    client.end()
    await once(client, 'end')
    await until(() => kept(pool, 'channel').length === 0)
  })

  it('gives the endpoint free at once: the same path and port can be had again, also for another remote', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [host, other] = fleet.hosts
    assert.ok(host && other)
    const directory = mkdtempSync(join(tmpdir(), 'fw-'))
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    await using elsewhere = await pool.acquire(other.target)
    const first = await lease.forward({ to: host.http, listen: 'tcp' })
    const { port } = first.address
    await first.close()
    for (const listen of [{ socketPath: join(directory, 's') }, { port }]) {
      for (let round = 0; round < 10; round += 1) {
        const forward = await lease.forward({ to: host.http, listen })
        await forward.close()
        const taken = await elsewhere.forward({ to: other.http, listen })
        // Not awaited: what is given up is free in the order in which it was.
        void taken.close()
        const again = await lease.forward({ to: { port: 1 + round }, listen })
        await again[Symbol.asyncDispose]()
      }
    }
    assert.equal(existsSync(join(directory, 's')), false)
    rmdirSync(directory)
  })

  it('has it once per endpoint: for another remote or another destination it is in use', async () => {
    await using fleet = await startFleet({ hosts: 2 })
    const [host, other] = fleet.hosts
    assert.ok(host && other)
    const directory = mkdtempSync(join(tmpdir(), 'fw-'))
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    await using elsewhere = await pool.acquire(other.target)
    const listen = { socketPath: join(directory, 's') }
    const forward = await lease.forward({ to: host.http, listen })
    await refusal(lease.forward({ to: { port: 1 }, listen }), 'ERR_ADDRESS_IN_USE', 'forward')
    await refusal(elsewhere.forward({ to: other.http, listen }), 'ERR_ADDRESS_IN_USE', 'forward')
    assert.equal(await knock(forward.address), 'open')
    await forward.close()
    rmdirSync(directory)
  })

  it('is nobody after the release, or once the signal has aborted', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using pool = startPool()
    const lease = await pool.acquire(host.target)
    const reason = new Error('not any more')
    const aborted = await refusal(lease.forward({ to: host.http }, { signal: AbortSignal.abort(reason) }), 'ERR_ABORTED')
    assert.equal(aborted.cause, reason)
    const making = refusal(lease.forward({ to: host.http, listen: 'tcp' }), 'ERR_ABORTED')
    lease.release()
    await making
    await refusal(lease.forward({ to: host.http }), 'ERR_ABORTED')
    await until(() => listeners(pool).length === 0)
  })
})
