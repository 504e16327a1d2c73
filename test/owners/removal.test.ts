import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { World } from './world.ts'

const isRoot = process.geteuid?.() === 0

describe('removal of a runtime directory', () => {
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  it('removes what it knows and what it does not', async () => {
    const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
    const directory = await world.runtime(pool).tunnelDirectory(tunnel, 'a')
    for (const name of [undefined, undefined, 'known']) writeFileSync(directory.claim(name), '')
    mkdirSync(`${directory.path}/un/known`, { recursive: true })
    writeFileSync(`${directory.path}/un/known/file`, '')
    assert.deepEqual(readdirSync(directory.path).sort(), ['1', '2', 'known', 'un'])
    tunnel.force()
    assert.equal(existsSync(directory.path), false)
    assert.equal(tunnel.size, 0)
    pool.force()
    await world.ledger.emptied()
  })

  it('removes the pool directory last, whoever is released first', async () => {
    const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
    const runtime = world.runtime(pool)
    const directory = await runtime.tunnelDirectory(tunnel, 'a')
    pool.force()
    assert.ok(existsSync(directory.path))
    assert.ok(existsSync(`${runtime.path}/owner`), 'it would look dead while it exists')
    tunnel.force()
    assert.deepEqual(readdirSync(world.base), [])
    await world.ledger.emptied()
  })

  it('counts what somebody else removed as gone', async () => {
    const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
    const runtime = world.runtime(pool)
    await runtime.tunnelDirectory(tunnel, 'a')
    rmSync(runtime.path ?? '', { recursive: true })
    tunnel.force()
    pool.force()
    await world.ledger.emptied()
  })

  it('leaves alone what somebody else put in its place', async () => {
    const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
    const directory = await world.runtime(pool).tunnelDirectory(tunnel, 'a')
    renameSync(directory.path, `${world.base}/moved`)
    mkdirSync(directory.path)
    writeFileSync(`${directory.path}/theirs`, '')
    tunnel.force()
    assert.equal(tunnel.size, 0)
    assert.ok(existsSync(`${directory.path}/theirs`))
    pool.force()
    await world.ledger.emptied()
  })

  for (const what of ['', '/owner']) {
    it(`makes a new one when a cleaner has taken ${what === '' ? 'it' : 'its owner socket'}`, async () => {
      const [pool, one, two] = [world.scope(), world.scope('one'), world.scope('two')]
      const runtime = world.runtime(pool)
      const first = await runtime.tunnelDirectory(one, 'a')
      const old = runtime.path
      rmSync(`${old}${what}`, { recursive: true })
      const [second] = await Promise.all([runtime.tunnelDirectory(two, 'b'), runtime.tunnelDirectory(two, 'c')])
      assert.notEqual(runtime.path, old)
      assert.ok(existsSync(second?.path ?? ''))
      assert.equal(existsSync(first.path), what !== '', 'the opening that uses it keeps it')
      one.force()
      assert.equal(existsSync(old ?? ''), false)
      two.force()
      pool.force()
      await world.ledger.emptied()
      assert.deepEqual(readdirSync(world.base), [])
    })
  }

  if (isRoot) {
    it('keeps the entry of a directory that will not go, and removes it when it can', async () => {
      const [pool, tunnel] = [world.scope(), world.scope('tunnel')]
      const directory = await world.runtime(pool).tunnelDirectory(tunnel, 'a')
      mkdirSync(`${directory.path}/busy`)
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', `${directory.path}/busy`])
      try {
        tunnel.force()
        pool.force()
        assert.deepEqual(
          tunnel.entries().map(({ kind }) => kind),
          ['directory'],
        )
      } finally {
        execFileSync('umount', [`${directory.path}/busy`])
      }
      tunnel.force()
      await world.ledger.emptied()
      assert.deepEqual(readdirSync(world.base), [])
    })
  }
})
