import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { sweep } from '../../src/owners/directory/sweep.ts'
import { until } from '../support/until.ts'
import { World } from './world.ts'

const isRoot = process.geteuid?.() === 0
const prefix = `warren-${process.geteuid?.()}-`
const NOTHING = { directories: 0, processes: 0, leftAlone: [] }

describe('sweep', () => {
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  const isPausing = (): boolean => world.ledger.entries().some(({ label }) => label === 'pause of a sweep')

  it('finds nothing where nothing is', async () => {
    assert.deepEqual(await world.sweep(), NOTHING)
  })

  it('takes what a killed process left behind, and nothing else', async () => {
    await world.dead(3)
    for (const name of ['other', `${prefix}`.slice(0, -1), 'warren-4711-abcdef']) mkdirSync(join(world.base, name))
    assert.deepEqual(await world.sweep(), { ...NOTHING, directories: 3 })
    assert.deepEqual(readdirSync(world.base).sort(), ['other', `${prefix}`.slice(0, -1), 'warren-4711-abcdef'].sort())
  })

  it('neither touches nor reports what is ours', async () => {
    const pool = world.scope()
    const directory = await world.runtime(pool).tunnelDirectory(pool, 'a')
    assert.deepEqual(await world.sweep(), NOTHING)
    assert.ok(existsSync(directory.path))
    pool.force()
    await world.ledger.emptied()
  })

  it('leaves a stopped process alone, also with a full backlog, until it is killed', async () => {
    const program = world.start('pool.ts', [world.base, 'stay'])
    const owner = join(dirname(await program.line()), 'owner')
    assert.equal(await program.line(), 'open')
    program.signal('SIGSTOP')
    await until(() => /^State:\s+T/m.test(readFileSync(`/proc/${program.pid}/status`, 'utf8')))
    assert.deepEqual(await world.sweep(), NOTHING)
    const sockets: Socket[] = []
    let isFull = false
    while (!isFull) {
      const socket = connect(owner)
      sockets.push(socket)
      await new Promise<void>((resolve) => {
        socket.once('connect', resolve).once('error', (error: NodeJS.ErrnoException) => {
          isFull = error.code === 'EAGAIN'
          resolve()
        })
      })
    }
    assert.deepEqual(await world.sweep(), { ...NOTHING, leftAlone: [`${dirname(owner)}: its owner is there, but busy`] })
    for (const socket of sockets) socket.destroy()
    assert.ok(existsSync(owner))
    await program.kill()
    assert.deepEqual(await world.sweep(), { ...NOTHING, directories: 1 })
    assert.deepEqual(readdirSync(world.base), [])
  })

  it('leaves a process alone whose loop is blocked', async () => {
    const program = world.start('pool.ts', [world.base, 'busy'])
    const path = await program.line()
    assert.equal(await program.line(), 'open')
    for (let sweeps = 0; sweeps < 3; sweeps += 1) assert.deepEqual(await world.sweep(), NOTHING)
    assert.ok(existsSync(path))
    assert.equal(await program.line(40_000), 'done')
  }).timeout(60_000)

  it('leaves a process alone that has bound its socket and does not listen yet', async () => {
    const program = world.start('pool.ts', [world.base, 'between'])
    const bound = await program.line()
    const refused = await new Promise((resolve) => connect(bound).once('error', resolve).once('connect', resolve))
    assert.equal((refused as NodeJS.ErrnoException).code, 'ECONNREFUSED')
    assert.deepEqual(await world.sweep(), { ...NOTHING, leftAlone: [`${dirname(bound)}: it has no owner socket (yet)`] })
    assert.ok(existsSync(bound))
  })

  it('leaves alone whatever may be somebody else’s, and says so', async () => {
    const elsewhere = join(world.base, 'elsewhere')
    mkdirSync(elsewhere)
    const [other, noOwner, noBorn, garbled, open] = await world.dead(5)
    assert.ok(other && noOwner && noBorn && garbled && open)
    const born = JSON.parse(readFileSync(join(other, 'born'), 'utf8'))
    writeFileSync(join(other, 'born'), JSON.stringify({ ...born, machine: 'f'.repeat(32), boot: 'other' }))
    rmSync(join(noOwner, 'owner'))
    rmSync(join(noBorn, 'born'))
    writeFileSync(join(garbled, 'born'), '{')
    chmodSync(open, 0o711)
    const [file, link] = [join(world.base, `${prefix}file`), join(world.base, `${prefix}link`)]
    writeFileSync(file, '')
    const [target] = await world.dead(1, elsewhere)
    symlinkSync(target ?? '', link)
    const expected = [
      `${other}: another machine made it`,
      `${noOwner}: it has no owner socket (yet)`,
      `${noBorn}: nothing in it says who made it (yet)`,
      `${open}: it is open to other users`,
      `${file}: it is not a directory`,
      `${link}: it is a symbolic link`,
    ]
    if (isRoot) {
      const foreign = join(world.base, `${prefix}foreign`)
      mkdirSync(foreign, { mode: 0o700 })
      chownSync(foreign, 65_534, 65_534)
      expected.push(`${foreign}: it belongs to uid 65534`)
    }
    const before = readdirSync(world.base, { recursive: true }).sort()
    const { directories, leftAlone } = await world.sweep()
    assert.equal(directories, 0)
    assert.deepEqual(leftAlone.filter((line) => !line.startsWith(garbled)).sort(), expected.sort())
    assert.equal(leftAlone.filter((line) => line.startsWith(`${garbled}: it cannot be examined`)).length, 1)
    assert.deepEqual(readdirSync(world.base, { recursive: true }).sort(), before)
  })

  it('takes what was made before this boot without waiting, unless it answers', async () => {
    const [old, oldWithoutOwner] = await world.dead(2)
    const program = world.start('pool.ts', [world.base, 'stay'])
    const alive = dirname(await program.line())
    assert.ok(old && oldWithoutOwner)
    rmSync(join(oldWithoutOwner, 'owner'))
    for (const path of [old, oldWithoutOwner, alive]) {
      const born = JSON.parse(readFileSync(join(path, 'born'), 'utf8'))
      writeFileSync(join(path, 'born'), JSON.stringify({ ...born, boot: 'another' }))
    }
    const clock = { ...systemClock, setTimeout: () => undefined }
    const swept = await sweep({ base: world.base, clock, signal: new AbortController().signal, scope: world.scope() })
    assert.deepEqual(swept, { ...NOTHING, directories: 2 })
    assert.deepEqual(readdirSync(world.base), [basename(alive)])
  })

  it('asks twice: an owner that refused once may be there a second later', async () => {
    const [path = ''] = await world.dead(1)
    const swept = world.sweep()
    await until(isPausing)
    rmSync(join(path, 'owner'))
    const server = createServer().listen(join(path, 'owner'))
    try {
      assert.deepEqual(await swept, NOTHING)
      assert.ok(existsSync(path))
    } finally {
      server.close()
    }
  })

  it('takes what has been emptied but for its last two names', async () => {
    const [path] = await world.dead(1)
    assert.ok(path)
    for (const name of readdirSync(path)) if (name !== 'born' && name !== 'owner') rmSync(join(path, name), { recursive: true })
    assert.deepEqual(await world.sweep(), { ...NOTHING, directories: 1 })
    assert.deepEqual(readdirSync(world.base), [])
  })

  it('follows no link, and removes what it does not know', async () => {
    const [path] = await world.dead(1)
    const outside = join(world.base, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'file'), '')
    symlinkSync(outside, join(path ?? '', 'link'))
    linkSync(join(outside, 'file'), join(path ?? '', 'hard'))
    mkdirSync(join(path ?? '', 'deep/er'), { recursive: true })
    writeFileSync(Buffer.concat([Buffer.from(`${path}/deep/er/`), Buffer.from([0xff])]), '')
    assert.deepEqual(await world.sweep(), { ...NOTHING, directories: 1 })
    assert.deepEqual(readdirSync(world.base, { recursive: true }).sort(), ['outside', 'outside/file'])
  })

  it('ends the children first, by the path in their arguments', async () => {
    const paths = await world.dead(2)
    const asked: string[] = []
    const endChildren = async (path: string): Promise<number> => {
      assert.ok(existsSync(path))
      asked.push(path)
      return 2
    }
    const signal = new AbortController().signal
    const swept = await sweep({ base: world.base, clock: systemClock, signal, scope: world.scope(), endChildren })
    assert.deepEqual(swept, { directories: 2, processes: 4, leftAlone: [] })
    assert.deepEqual(asked.sort(), paths.sort())
  })

  it('ends when it is told to, and leaves everything where it is', async () => {
    await world.dead(2)
    const abort = new AbortController()
    const swept = world.sweep(world.base, abort.signal)
    await until(isPausing)
    const reason = new Error('enough')
    abort.abort(reason)
    await assert.rejects(swept, reason)
    assert.equal(readdirSync(world.base).length, 2)
    assert.equal(world.ledger.size, 0)
  })
})
