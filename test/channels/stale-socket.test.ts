import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startHost } from '../pool/world.ts'
import { exited, spawnFixture } from '../support/child.ts'
import { refusal, startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'
import { clientOf, knock } from './world.ts'

/** Another process that listens on a path. */
async function neighbour(path: string, backlog = 511): Promise<ChildProcess> {
  const script = 'require("net").createServer().listen({ path: process.argv[1], backlog: Number(process.argv[2]) })'
  const child = spawnFixture(process.execPath, ['-e', script, path, String(backlog)], 'ignore')
  await until(async () => existsSync(path) && (await knock({ socketPath: path })) === 'open', { within: 5_000 })
  return child
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await exited(child)
}

describe('B34 a named path on which there is a socket already', () => {
  let directory: string
  let path: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'fw-'))
    path = join(directory, 's')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('is taken when a dead process has left it', async () => {
    await using site = await startHost()
    const { host } = site
    await killed(await neighbour(path))
    assert.equal(await knock({ socketPath: path }), 'ECONNREFUSED')
    await using pool = startPool()
    await using lease = await pool.acquire(host.target, { forwards: { web: { to: host.http, listen: { socketPath: path } } } })
    assert.equal(await knock(lease.forwards.web.address), 'open')
  })

  it('is never taken from a process that lives, and that serves on', async () => {
    await using site = await startHost()
    const { host } = site
    const child = await neighbour(path)
    const { ino } = lstatSync(path)
    await using pool = startPool()
    const forwards = { web: { to: host.http, listen: { socketPath: path } } }
    for (let round = 0; round < 3; round += 1)
      await refusal(pool.acquire(host.target, { forwards }), 'ERR_ADDRESS_IN_USE', 'forward')
    assert.equal(lstatSync(path).ino, ino)
    assert.equal(await knock({ socketPath: path }), 'open')
    await killed(child)
  })

  it('is never taken from a process that is stopped and can queue no more', async () => {
    await using site = await startHost()
    const { host } = site
    const child = await neighbour(path, 1)
    child.kill('SIGSTOP')
    const clients = Array.from({ length: 4 }, () => clientOf({ socketPath: path }))
    await until(async () => (await knock({ socketPath: path })) === 'EAGAIN')
    const { ino } = lstatSync(path)
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    await refusal(lease.forward({ to: host.http, listen: { socketPath: path } }), 'ERR_ADDRESS_IN_USE', 'forward')
    assert.equal(lstatSync(path).ino, ino)
    child.kill('SIGCONT')
    await until(async () => (await knock({ socketPath: path })) === 'open')
    for (const client of clients) client.destroy()
    await killed(child)
  })

  it('is had by exactly one of many pools that come at once', async () => {
    const many = 8
    await using site = await startHost()
    const { host } = site
    for (let round = 0; round < 5; round += 1) {
      await killed(await neighbour(path))
      const pools = Array.from({ length: many }, () => startPool())
      const leases = await Promise.all(pools.map((pool) => pool.acquire(host.target)))
      const outcomes = await Promise.allSettled(
        leases.map((lease, index) => lease.forward({ to: { port: 1 + index }, listen: { socketPath: path } })),
      )
      const winners = outcomes.filter(({ status }) => status === 'fulfilled')
      assert.equal(winners.length, 1)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'ERR_ADDRESS_IN_USE', outcome.reason.stack)
      const client = connect({ path })
      await new Promise((resolve, reject) => client.once('connect', resolve).once('error', reject))
      client.destroy()
      await Promise.all(pools.map((pool) => pool.close({ timeoutMillis: 0 })))
      assert.equal(existsSync(path), false)
    }
  })
})
