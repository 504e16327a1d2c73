import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { findPlace } from '../../src/owners/directory/place.ts'
import { RuntimeDirectory } from '../../src/owners/directory/runtime-directory.ts'
import { World } from './world.ts'

const isRoot = process.geteuid?.() === 0

describe('the place of runtime directories', () => {
  let world: World
  const environment = { XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR, TMPDIR: process.env.TMPDIR }
  beforeEach(() => {
    world = new World()
  })
  afterEach(async () => {
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await world.end()
  })

  const make = (name: string, mode = 0o700): string => {
    const path = join(world.base, name)
    mkdirSync(path)
    chmodSync(path, mode)
    return path
  }

  for (const [what, prepare] of Object.entries<() => string>({
    'that is not there': () => join(world.base, 'nowhere'),
    'that is a file': () => {
      writeFileSync(join(world.base, 'file'), '')
      return join(world.base, 'file')
    },
    'that is a symbolic link': () => {
      symlinkSync(make('real'), join(world.base, 'link'))
      return join(world.base, 'link')
    },
    'that is a symbolic link with a slash': () => {
      symlinkSync(make('real'), join(world.base, 'link'))
      return `${world.base}/link/`
    },
    'that all can write to, not sticky': () => make('open', 0o777),
    'that a group can write to, not sticky': () => make('group', 0o770),
    ...(isRoot && {
      'of another user': () => {
        const path = make('foreign')
        chownSync(path, 65_534, 65_534)
        return path
      },
    }),
  })) {
    it(`refuses one ${what}, with the remedy`, async () => {
      const base = prepare()
      const pool = world.scope()
      await assert.rejects(world.runtime(pool, base).tunnelDirectory(pool, 'a'), {
        code: 'ERR_RUNTIME_DIRECTORY',
        message: /runtimeDirectory/,
      })
      assert.equal(pool.size, 0)
      if (what.startsWith('that all')) assert.deepEqual(readdirSync(base), [])
    })
  }

  it('takes one that all can write to if it is sticky', async () => {
    const sticky = make('sticky', 0o1777)
    assert.equal(await findPlace(sticky), sticky)
  })

  it('takes one below a symbolic link, resolved', async () => {
    make('real')
    mkdirSync(join(world.base, 'real/inner'))
    symlinkSync(join(world.base, 'real'), join(world.base, 'link'))
    assert.equal(await findPlace(join(world.base, 'link/inner')), join(world.base, 'real/inner'))
  })

  it('takes $XDG_RUNTIME_DIR if it can be used, else the temporary directory', async () => {
    const [session, temporary] = [make('session'), make('temporary')]
    process.env.TMPDIR = temporary
    for (const [value, expected] of [
      [session, session],
      [join(world.base, 'nowhere'), temporary],
      ['session', temporary],
      ['', temporary],
      [make('open', 0o777), temporary],
    ] as const) {
      process.env.XDG_RUNTIME_DIR = value
      assert.equal(await findPlace(undefined), expected)
    }
  })

  it('goes to the temporary directory when paths would be too long in $XDG_RUNTIME_DIR', async () => {
    process.env.TMPDIR = make('temporary')
    process.env.XDG_RUNTIME_DIR = make('x'.repeat(80))
    const pool = world.scope()
    const { path } = await new RuntimeDirectory({ base: undefined, scope: pool, clock: systemClock }).tunnelDirectory(pool, 'a')
    assert.equal(dirname(dirname(path)), process.env.TMPDIR)
    pool.force()
    await world.ledger.emptied()
  })

  for (const [what, letter] of [
    ['ASCII', 'x'],
    ['two-byte letters', 'ü'],
    ['three-byte letters', '穴'],
    ['emoji', '🐇'],
    ['spaces', ' '],
  ] as const) {
    it(`works or refuses with the limit at every length from 60 to 130 bytes: ${what}`, async () => {
      const ours = 1 + `warren-${process.geteuid?.()}-`.length + 6 + 1 + 6 + 1 + 4
      for (let bytes = 60; bytes <= 130; bytes += 1) {
        const room = bytes - Buffer.byteLength(world.base) - 1
        const name = letter.repeat(Math.floor((room - 1) / Buffer.byteLength(letter)))
        const base = make(name + 'x'.repeat(room - Buffer.byteLength(name)))
        assert.equal(Buffer.byteLength(base), bytes)
        const pool = world.scope()
        const runtime = world.runtime(pool, base)
        if (bytes + ours <= 107) {
          const directory = await runtime.tunnelDirectory(pool, 'a')
          const path = directory.claim('abcd')
          const server = createServer().listen(path)
          await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
          assert.ok(existsSync(path), 'bound at another path')
          assert.throws(() => directory.claim('a'.repeat(107)), { code: 'ERR_PATH_TOO_LONG' })
          await new Promise((resolve) => server.close(resolve))
          pool.force()
          await world.ledger.emptied()
        } else {
          const message = new RegExp(`${bytes + ours} bytes, the limit is 107.*at most ${107 - ours} bytes instead of ${bytes}`)
          await assert.rejects(runtime.tunnelDirectory(pool, 'a'), { code: 'ERR_PATH_TOO_LONG', message })
          assert.equal(pool.size, 0)
        }
        assert.deepEqual(readdirSync(base), [])
        rmSync(base, { recursive: true })
      }
    })
  }

  it('asks for more room when longer names must fit, before it makes anything', async () => {
    const base = make('x'.repeat(75 - world.base.length - 1))
    const pool = world.scope()
    await assert.rejects(world.runtime(pool, base).tunnelDirectory(pool, 'control socket', 18), { code: 'ERR_PATH_TOO_LONG' })
    assert.deepEqual(readdirSync(base), [])
  })
})
