import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { TunnelPool } from '../../src/api/pool.ts'
import { type Fleet, type FleetHost, startFleet } from '../../src/testing/index.ts'
import { clientOf, ending, kept, knock, listeners } from '../channels/world.ts'
import { makeFastPool, RESTS_LONG, rejection } from '../pool/world.ts'
import { startPool } from '../support/pool.ts'
import { echo, startTcpServer, type TcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { say, talking, told } from './world.ts'

describe('a standing endpoint', () => {
  let fleet: Fleet
  let host: FleetHost
  let server: TcpServer
  beforeEach(async () => {
    fleet = await startFleet()
    host = fleet.hosts[0] as FleetHost
    server = await startTcpServer(echo)
  })
  afterEach(async () => {
    await fleet.close()
    await server[Symbol.asyncDispose]()
  })
  const to = () => ({ port: server.port })

  for (const listen of ['unix', 'tcp'] as const) {
    it(`dials on first use, and stays where it is while tunnels come and go (${listen})`, async () => {
      await using pool = startPool()
      const standing = await pool.listen(host.target, { to: to(), listen })
      const words = told(standing)
      const { address } = standing
      assert.deepEqual([standing.kind, standing.state, standing.cause, pool.stats.opened], ['local', 'dormant', undefined, 0])
      assert.equal(await say(address), 'hello')
      assert.equal(standing.state, 'up')
      for (let loss = 1; loss <= 5; loss += 1) {
        const client = await talking(address)
        host.sever()
        // A unix socket whose bytes were all read cannot be reset.
        assert.equal(await ending(client), listen === 'tcp' ? 'ECONNRESET' : 'end')
        client.destroy()
        await until(() => standing.state === 'dormant')
        assert.equal(standing.cause?.code, 'ERR_LOST')
        assert.equal(await say(address, `after ${loss}`), `after ${loss}`)
        assert.deepEqual(standing.address, address)
      }
      assert.deepEqual(words, ['up', ...Array(5).fill(['down ERR_LOST', 'up']).flat()])
      assert.equal(pool.stats.opened, 6)
      await until(() => pool.stats.leases === 0)
      await standing.close()
      assert.notEqual(await knock(address), 'open')
      if ('socketPath' in address) assert.equal(existsSync(dirname(address.socketPath)), false)
      assert.equal(standing.state, 'dormant')
    })
  }

  it('that is eager dials at once, and again at once when it is lost, without anybody coming', async () => {
    await using pool = startPool()
    const standing = await pool.listen(host.target, { to: to() }, { eager: true, label: 'the database' })
    await until(() => standing.state === 'up')
    assert.deepEqual(
      pool.report().leases.map(({ label }) => label),
      ['the database'],
    )
    for (let generation = 2; generation < 5; generation += 1) {
      host.sever()
      await until(() => pool.stats.opened === generation && standing.state === 'up')
    }
    assert.equal(await say(standing.address), 'hello')
    await standing.close()
    await until(() => pool.stats.leases === 0)
  })

  it('that is eager waits through the back-off while the host is down, and is barred while it is; a reset is enough', async () => {
    await using pool = startPool({ backoffMinMillis: 20, backoffMaxMillis: 40 })
    host.refuse()
    const standing = await pool.listen(host.target, { to: to() }, { eager: true })
    const words = told(standing)
    await until(() => pool.stats.failed >= 3)
    assert.deepEqual([standing.state, standing.cause?.code], ['waiting', 'ERR_REFUSED'])
    host.rotateHostKey()
    host.refuse(false)
    await until(() => standing.state === 'barred')
    assert.equal(standing.cause?.code, 'ERR_HOST_KEY')
    const failed = pool.stats.failed
    assert.match(await say(standing.address), /ECONNRESET|EPIPE/)
    assert.equal(pool.stats.failed, failed)
    pool.reset(host.target)
    // Still the wrong key.
    await until(() => pool.stats.failed === failed + 1 && standing.state === 'barred')
    assert.deepEqual([...new Set(words)], ['refused ERR_CIRCUIT_OPEN'])
  })

  it('B86: that is closed while its host rests, or is being dialled, dials no more', async () => {
    for (const when of ['waiting', 'dialling'] as const) {
      await using pool = startPool({ backoffMinMillis: 20, backoffMaxMillis: 20 })
      if (when === 'waiting') host.refuse()
      else host.freeze()
      const standing = await pool.listen(host.target, { to: to() }, { eager: true })
      await until(() => (when === 'waiting' ? pool.stats.failed >= 2 : pool.stats.tunnels.opening === 1))
      await standing.close()
      await until(() => pool.stats.waiting === 0 && pool.stats.tunnels.opening === 0, { within: 5_000 })
      const { failed, opened } = pool.stats
      host.refuse(false)
      host.thaw()
      await until(() => pool.health(host.target).state === 'dormant')
      await until(() => pool.stats.tunnels.draining === 0)
      assert.deepEqual([pool.stats.failed, pool.stats.opened, pool.stats.tunnels.open], [failed, opened, 0])
    }
  })

  it('outlives that its destination would be forgotten, and the bar is not', async () => {
    await using pool = makeFastPool(20_000, { idleTimeoutMillis: 1_000_000 })
    const standing = await pool.listen(host.target, { to: to() })
    const other = await pool.listen(host.target, { to: to() })
    await other.close()
    // 600 s of the pool's own time pass within 30 ms.
    await until(() => pool.report().tunnels.length === 0)
    const began = performance.now()
    await until(() => performance.now() - began > 100)
    assert.equal(pool.health(host.target).state, 'dormant')
    await standing.close()
    await until(() => pool.health(host.target).state === 'unknown')
    await pool.close()
  })

  it('keeps the bar of its destination, for as long as nobody resets it', async () => {
    const never = Number.POSITIVE_INFINITY
    const patient = {
      openTimeoutMillis: never,
      acquireTimeoutMillis: never,
      keepAliveIntervalMillis: never,
      channelTimeoutMillis: never,
    }
    await using pool = makeFastPool(20_000, patient)
    host.rotateHostKey()
    const standing = await pool.listen(host.target, { to: to() })
    assert.match(await say(standing.address), /ECONNRESET|EPIPE/)
    await until(() => standing.state === 'barred')
    // 300 s until it may be tried again and 600 s until it would be forgotten, five times.
    const began = performance.now()
    await until(() => performance.now() - began > 225)
    assert.deepEqual([standing.state, pool.health(host.target).state], ['barred', 'barred'])
    pool.reset(host.target)
    await until(() => standing.state === 'dormant')
    await standing.close()
    await pool.close()
  })

  it('lets go on what it carries when it is closed, and is closed once, however often', async () => {
    await using pool = startPool()
    const standing = await pool.listen(host.target, { to: to() })
    const client = await talking(standing.address)
    const [first] = [standing.close(), standing.close(), standing[Symbol.asyncDispose]()]
    await first
    assert.equal(await knock(standing.address), 'ENOENT')
    client.write('still here')
    await until(() => client.bytesRead === 'xstill here'.length)
    client.destroy()
    await until(() => pool.stats.leases === 0)
    assert.deepEqual(listeners(pool), [])
  })

  it('closes with its pool, at once with all that it carries and parks when that is destroyed', async () => {
    for (const end of ['close', 'destroy'] as const) {
      const pool: TunnelPool = startPool({ drainTimeoutMillis: 100, ...RESTS_LONG })
      const standing = await pool.listen(host.target, { to: to(), listen: 'tcp' }, { eager: true })
      const client = await talking(standing.address)
      const ended = ending(client)
      await pool[end]()
      assert.equal(await ended, 'ECONNRESET')
      assert.equal(await knock(standing.address), 'ECONNREFUSED')
      assert.deepEqual(pool.resources(), [])
      await rejection(pool.listen(host.target, { to: to() }), 'ERR_POOL_CLOSED')
    }
  })

  it('is refused with what is wrong with it before anything is made', async () => {
    await using pool = startPool()
    await rejection(pool.listen(host.target, { to: to(), listen: 'tpc' as never }), 'ERR_INVALID_OPTION')
    await rejection(pool.listen(host.target, { to: to() }, { eagre: true } as never), 'ERR_INVALID_OPTION')
    await rejection(pool.listen({ ...host.target, port: -1 }, { to: to() }), 'ERR_INVALID_OPTION')
    await rejection(pool.listen(host.target, { to: to() }, { signal: AbortSignal.abort() }), 'ERR_ABORTED')
    await rejection(pool.listen(host.target, { to: to(), listen: { port: server.port } }), 'ERR_ADDRESS_IN_USE')
    assert.deepEqual(kept(pool, 'listener'), [])
    assert.equal(pool.stats.opened, 0)
  })

  it('is left by nobody when the tunnel retires: what it carries ends with the old one, who comes gets the new one', async () => {
    await using pool = startPool()
    const standing = await pool.listen(host.target, { to: to() })
    const words = told(standing)
    const client = await talking(standing.address)
    const retired = pool.retire(host.target)
    await until(() => pool.stats.opened === 2)
    const next = await talking(standing.address)
    assert.deepEqual(
      pool.report().tunnels.map(({ state }) => state),
      ['draining', 'open'],
    )
    client.write('on')
    await until(() => client.bytesRead === 'xon'.length)
    client.end()
    assert.equal(await ending(client), 'end')
    await retired
    next.end('bye')
    assert.equal(await ending(next), 'end')
    assert.deepEqual(words, ['up'])
    assert.equal(clientOf(standing.address).destroy().destroyed, true)
  })

  it('of which a listener throws goes on', async () => {
    await using pool = startPool()
    const standing = await pool.listen(host.target, { to: to() })
    const warnings: unknown[] = []
    const { emitWarning } = process
    process.emitWarning = (...warning: unknown[]) => void warnings.push(warning)
    const thrower = () => {
      throw new Error('mine')
    }
    standing.on('up', thrower)
    assert.equal(await say(standing.address), 'hello')
    process.emitWarning = emitWarning
    assert.match(String(warnings), /mine/)
    standing.off('up', thrower)
    assert.equal(await say(standing.address), 'hello')
  })
})
