import assert from 'node:assert/strict'
import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Fleet, type FleetHost, startFleet } from '../../src/testing/index.ts'
import { closeServer } from '../../src/testing/server.ts'
import { knock, listeners } from '../channels/world.ts'
import { Program } from '../owners/program.ts'
import { rejection } from '../pool/world.ts'
import { spawnFixture, typescript } from '../support/child.ts'
import { startPool } from '../support/pool.ts'
import { echo, startTcpServer, type TcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { say } from './world.ts'

const FILE = fileURLToPath(new URL('fixtures/owner.ts', import.meta.url))

describe('takeOver', () => {
  let directory: string
  let fleet: Fleet
  let host: FleetHost
  let server: TcpServer
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'to-'))
    fleet = await startFleet()
    host = fleet.hosts[0] as FleetHost
    server = await startTcpServer(echo)
  })
  afterEach(async () => {
    await Promise.all([fleet.close(), server[Symbol.asyncDispose]()])
    rmSync(directory, { recursive: true, force: true })
  })
  const at = () => ({ socketPath: join(directory, 's') })
  const spec = () => ({ to: { port: server.port }, listen: at(), takeOver: true }) as const

  it('from one process to the next, and the next, refuses and cuts no connection; the last one leaves nothing', async () => {
    const path = at().socketPath
    const start = () => {
      const args = [...typescript, FILE, path, `${server.port}`, JSON.stringify(host.target), directory]
      return new Program(spawnFixture(process.execPath, args, 'pipe'))
    }
    const starting = [start(), start(), start()]
    const [first, ...others] = starting
    assert.ok(first)
    // Whichever listens last has it; what counts is that somebody does from now on.
    assert.equal(await first.line(), 'listens')
    const failures: string[] = []
    let served = 0
    let isOver = false
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const heard = await say(at(), 'hello').catch(String)
        if (heard === 'hello') served += 1
        else failures.push(heard)
      }
    })
    try {
      for (const other of others) assert.equal(await other.line(), 'listens')
      await until(() => served > 200, { within: 10_000 })
      const newest = lstatSync(path, { bigint: true }).ino
      // Those who have it no more end first: two of the three, whichever they are.
      const successor = start()
      assert.equal(await successor.line(), 'listens')
      assert.notEqual(lstatSync(path, { bigint: true }).ino, newest)
      for (const old of starting) {
        old.say('end')
        assert.equal(await old.line(), 'closed')
        assert.equal(await old.line(), 'gone')
        assert.equal(await old.exit(), 0, old.stderr)
      }
      const before = served
      await until(() => served > before + 200, { within: 10_000 })
      isOver = true
      await Promise.all(clients)
      assert.deepEqual(failures, [])
      successor.say('end')
      assert.equal(await successor.exit(), 0, successor.stderr)
      assert.deepEqual(readdirSync(directory), [])
    } finally {
      isOver = true
      await Promise.all(clients)
      for (const each of starting) await each.kill()
    }
  })

  it('takes the place of nothing, and of an endpoint that did not think of it, whose end costs nobody the path', async () => {
    const places: Array<() => Promise<() => Promise<void>>> = [
      async () => async () => {},
      async () => {
        const other = startPool()
        await other.listen(host.target, { to: { port: server.port }, listen: at() })
        return () => other.close()
      },
    ]
    for (const prepare of places) {
      const end = await prepare()
      await using pool = startPool()
      const standing = await pool.listen(host.target, spec())
      assert.equal(await say(standing.address), 'hello')
      assert.equal((lstatSync(at().socketPath).mode & 0o777).toString(8), '600')
      await end()
      assert.equal(await say(standing.address), 'hello')
      await standing.close()
      assert.deepEqual(readdirSync(directory), [])
    }
  })

  it('takes from nobody what is not a socket of ours, nor from its own pool; and leaves nothing beside it', async () => {
    await using pool = startPool()
    const other = await startPool().listen(host.target, { to: { port: server.port }, listen: at() })
    const lease = await pool.acquire(host.target)
    const forward = await lease.forward(spec())
    await rejection(pool.listen(host.target, spec()), 'ERR_ADDRESS_IN_USE')
    assert.equal(await say(forward.address), 'hello')
    await other.close()
    assert.ok(existsSync(at().socketPath))
    await forward.close()
    writeFileSync(at().socketPath, 'precious')
    await rejection(pool.listen(host.target, spec()), 'ERR_ADDRESS_IN_USE')
    rmSync(at().socketPath)
    mkdirSync(at().socketPath)
    await rejection(pool.listen(host.target, spec()), 'ERR_ADDRESS_IN_USE')
    rmSync(at().socketPath, { recursive: true })
    if (process.getuid?.() === 0) {
      const foreign = createServer().listen(at().socketPath)
      await until(() => foreign.listening)
      chownSync(at().socketPath, 65_534, 65_534)
      await rejection(pool.listen(host.target, spec()), 'ERR_ADDRESS_IN_USE')
      assert.equal(await knock(at()), 'open')
      await closeServer(foreign)
    }
    lease.release()
    assert.deepEqual(readdirSync(directory), [])
    await until(() => listeners(pool).length === 0)
  })

  it('is given up by a pool that closes, and that path alone', async () => {
    const one = startPool()
    await one.listen(host.target, spec())
    await using two = startPool()
    const standing = await two.listen(host.target, spec())
    await one.close()
    assert.equal(await say(standing.address), 'hello')
    await two.destroy()
    assert.deepEqual(readdirSync(directory), [])
  })
})
