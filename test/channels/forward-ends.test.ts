import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Lease } from '../../src/api/lease.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import type { FleetHost } from '../../src/testing/index.ts'
import { startHost } from '../pool/world.ts'
import { startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'
import { knock, listeners } from './world.ts'

type End = (lease: Lease, host: FleetHost, pool: TunnelPool) => void

const ends: Array<[how: string, end: End]> = [
  ['its lease is released', (lease) => lease.release()],
  ['its lease is released with a fault', (lease) => lease.release(new Error('it was bad'))],
  ['its tunnel is lost', (_lease, host) => host.sever()],
  ['its tunnel is retired by force', (_lease, host, pool) => void pool.retire(host.target, { force: true }).catch(() => {})],
]

describe('B21 the endpoints of a forward', () => {
  for (const [how, end] of ends) {
    it(`are gone when ${how}, and can be had again`, async () => {
      await using site = await startHost()
      const { host } = site
      const directory = mkdtempSync(join(tmpdir(), 'fw-'))
      await using pool = startPool({ drainTimeoutMillis: 100 })
      const to = host.http
      const forwards = {
        ours: { to },
        named: { to, listen: { socketPath: join(directory, 's') } },
        tcp: { to, listen: 'tcp' },
      } as const
      const generations = new Set<number>()
      let port: number | undefined
      for (let round = 0; round < 3; round += 1) {
        const lease = await pool.acquire(host.target, { forwards, whenResting: 'dial' })
        generations.add(lease.generation)
        const { ours, named, tcp } = lease.forwards
        for (const { address } of [ours, named, tcp]) assert.equal(await knock(address), 'open')
        // A port of our choice is ours again, too.
        if (port !== undefined) await (await lease.forward({ to, listen: { port } })).close()
        port = tcp.address.port
        end(lease, host, pool)
        await until(() => !existsSync(ours.address.socketPath) && !existsSync(named.address.socketPath))
        await until(async () => (await knock(tcp.address)) === 'ECONNREFUSED')
        await until(() => listeners(pool).length === 0)
        lease.release()
      }
      assert.equal(generations.size, how === 'its lease is released' ? 1 : 3)
      rmdirSync(directory)
    })
  }

  it('are gone when the pool is closed, whoever still holds them', async () => {
    await using site = await startHost()
    const { host } = site
    const directory = mkdtempSync(join(tmpdir(), 'fw-'))
    const pool = startPool()
    const forwards = { named: { to: host.http, listen: { socketPath: join(directory, 's') } }, ours: { to: host.http } } as const
    const lease = await pool.acquire(host.target, { forwards })
    await pool.close({ timeoutMillis: 0 })
    assert.equal(existsSync(dirname(dirname(lease.forwards.ours.address.socketPath))), false)
    rmdirSync(directory)
  })
})

describe('B24 a tunnel whose directory a cleaner has taken', () => {
  it('listens in a new one; what it holds goes on, and nothing is left', async () => {
    await using site = await startHost()
    const { host } = site
    const base = mkdtempSync(join(tmpdir(), 'fw-'))
    await using pool = startPool({ runtimeDirectory: base })
    {
      await using lease = await pool.acquire(host.target, { forwards: { first: { to: host.http } } })
      const { socketPath } = lease.forwards.first.address
      rmSync(dirname(socketPath), { recursive: true })
      const second = await lease.forward({ to: { port: 1 } })
      assert.equal(await knock(second.address), 'open')
      rmSync(dirname(dirname(second.address.socketPath)), { recursive: true })
      const third = await lease.forward({ to: { port: 2 } })
      assert.equal(await knock(third.address), 'open')
      assert.equal(pool.stats.opened, 1)
      assert.equal(lease.signal.aborted, false)
    }
    await pool.close({ timeoutMillis: 0 })
    rmdirSync(base)
  })

  it('asks again for one that could not be made', async () => {
    await using site = await startHost()
    const { host } = site
    const base = mkdtempSync(join(tmpdir(), 'fw-'))
    rmdirSync(base)
    await using pool = startPool({ runtimeDirectory: base })
    await using lease = await pool.acquire(host.target)
    await assert.rejects(lease.forward({ to: host.http }), { code: 'ERR_RUNTIME_DIRECTORY' })
    mkdirSync(base, { mode: 0o700 })
    const forward = await lease.forward({ to: host.http })
    assert.equal(await knock(forward.address), 'open')
    await pool.close({ timeoutMillis: 0 })
    rmdirSync(base)
  })
})
