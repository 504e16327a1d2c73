import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/clock.ts'
import { RuntimeDirectory } from '../../src/owners/directory/runtime-directory.ts'
import { until } from '../support/until.ts'
import { World } from './world.ts'

const mode = (path: string): string => (lstatSync(path).mode & 0o777).toString(8)
const isRoot = process.geteuid?.() === 0

describe('RuntimeDirectory', () => {
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  it('makes nothing before it is asked', () => {
    assert.equal(world.runtime(world.scope()).path, undefined)
    assert.deepEqual(readdirSync(world.base), [])
  })

  it('makes one directory for the pool and one for each opening, whatever the umask', async () => {
    const [pool, one, two] = [world.scope(), world.scope('one'), world.scope('two')]
    const runtime = world.runtime(pool)
    const umask = process.umask(0)
    try {
      const [first, second] = await Promise.all([runtime.tunnelDirectory(one, 'first'), runtime.tunnelDirectory(two, 'second')])
      assert.deepEqual(
        readdirSync(world.base).map((name) => join(world.base, name)),
        [runtime.path],
      )
      assert.match(runtime.path ?? '', /\/warren-\d+-[0-9a-z]{6}$/)
      assert.deepEqual(readdirSync(runtime.path ?? '').length, 4)
      assert.notEqual(first.path, second.path)
      for (const path of [runtime.path ?? '', first.path, second.path]) assert.equal(mode(path), '700')
      assert.equal(mode(`${runtime.path}/born`), '600')
      assert.equal(mode(`${runtime.path}/owner`), '600')
    } finally {
      process.umask(umask)
    }
    const kinds = world.ledger.entries().map(({ kind, owner }) => `${owner} ${kind}`)
    assert.deepEqual(kinds.sort(), [
      'one directory',
      'pool directory',
      'pool file',
      'pool listener',
      'pool timer',
      'two directory',
    ])
    for (const scope of [one, two, pool]) scope.ask()
    await world.ledger.emptied()
    assert.deepEqual(readdirSync(world.base), [])
  })

  it('says who made it, and answers at the owner socket', async () => {
    const pool = world.scope()
    const runtime = world.runtime(pool)
    await runtime.tunnelDirectory(pool, 'a')
    const born = JSON.parse(readFileSync(`${runtime.path}/born`, 'utf8'))
    assert.equal(born.pid, process.pid)
    assert.equal(born.boot, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
    assert.equal(born.startTime, readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19])
    await new Promise((resolve, reject) =>
      connect(`${runtime.path}/owner`)
        .once('connect', () => {})
        .once('close', resolve)
        .once('error', reject)
        .resume(),
    )
    pool.force()
    await world.ledger.emptied()
  })

  it('forgets a path that is given up, and never gives it out again', async () => {
    const pool = world.scope()
    const directory = await world.runtime(pool).tunnelDirectory(pool, 'a')
    const seen = new Set<string>()
    for (let count = 0; count < 2_000; count += 1) {
      const path = directory.claim()
      assert.match(path, /\/\d[0-9a-z]*$/)
      assert.ok(!seen.has(path))
      seen.add(path)
      directory.free(path)
    }
    assert.deepEqual([...directory.paths()], [directory.path])
    pool.force()
    await world.ledger.emptied()
  })

  it('touches all it has every hour', async () => {
    let hour: (() => void) | undefined
    const setTimeout = (fn: () => void, millis: number): void => {
      if (millis === 3_600_000) hour = fn
    }
    const clock: Clock = { ...systemClock, setTimeout }
    const pool = world.scope()
    const runtime = new RuntimeDirectory({ base: world.base, scope: pool, clock })
    const directory = await runtime.tunnelDirectory(pool, 'a')
    writeFileSync(directory.claim('file'), '')
    const paths = [runtime.path, `${runtime.path}/born`, `${runtime.path}/owner`, directory.path, `${directory.path}/file`].map(
      String,
    )
    for (const path of paths) utimesSync(path, 1, 1)
    const due = hour
    hour = undefined
    due?.()
    await until(() => paths.every((path) => statSync(path).mtimeMs > 1_000 && statSync(path).atimeMs > 1_000))
    await until(() => hour !== undefined)
    pool.force()
    await world.ledger.emptied()
  })

  it('refuses once the pool or the tunnel is being released', async () => {
    const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
    const runtime = world.runtime(pool)
    const during = runtime.tunnelDirectory(tunnel, 'a')
    tunnel.force()
    await assert.rejects(during, { code: 'ERR_ABORTED' })
    pool.force()
    await assert.rejects(runtime.tunnelDirectory(world.scope('late'), 'b'), { code: 'ERR_POOL_CLOSED' })
    await world.ledger.emptied()
  })

  it('leaves nothing when the pool is released at any moment of the making', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
      const making = world
        .runtime(pool)
        .tunnelDirectory(tunnel, 'a')
        .catch((error) => assert.equal(error.code, 'ERR_POOL_CLOSED'))
      for (let turn = 0; turn < turns; turn += 1) await (turns % 2 ? Promise.resolve() : new Promise(setImmediate))
      pool.force()
      await making
      tunnel.force()
      await world.ledger.emptied()
      assert.deepEqual(readdirSync(world.base), [])
    }
  })

  it('leaves as many listeners on process as there were', async () => {
    const before = process.listenerCount('exit')
    const [pool, other] = [world.scope(), world.scope('other')]
    await world.runtime(pool).tunnelDirectory(pool, 'a')
    await world.runtime(other).tunnelDirectory(other, 'b')
    assert.equal(process.listenerCount('exit'), before + 1)
    pool.force()
    other.force()
    assert.equal(process.listenerCount('exit'), before)
    await world.ledger.emptied()
  })

  if (isRoot) {
    it('takes back what it made on a full disk, and works when there is room', async () => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', world.base])
      try {
        assert.throws(() => writeFileSync(`${world.base}/filler`, Buffer.alloc(100_000)), { code: 'ENOSPC' })
        const pool = world.scope()
        const runtime = world.runtime(pool)
        const failure = await runtime.tunnelDirectory(pool, 'a').catch((error) => error)
        assert.equal(failure.code, 'ERR_LOCAL_LIMIT')
        assert.equal(failure.retryable, true)
        assert.equal(failure.cause.code, 'ENOSPC')
        assert.deepEqual(readdirSync(world.base), ['filler'])
        assert.equal(world.ledger.size, 0)
        rmSync(`${world.base}/filler`)
        await runtime.tunnelDirectory(pool, 'b')
        pool.force()
        await world.ledger.emptied()
        assert.deepEqual(readdirSync(world.base), [])
      } finally {
        execFileSync('umount', [world.base])
      }
    })
  }
})
