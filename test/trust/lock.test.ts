import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../../src/trust/lock.ts'
import { holderText, isAbandoned } from '../../src/trust/lock-holder.ts'
import { exited, spawnFixture } from '../support/child.ts'
import { until } from '../support/until.ts'
import { freshDirectory, refused, unaborted } from './given.ts'
import { Program } from './program.ts'

const nothing = async () => {}
const holder = (change: object) => JSON.stringify({ ...JSON.parse(holderText()), ...change })

describe('withLock', () => {
  const directory = freshDirectory()
  const path = () => join(directory(), 'known_hosts.lock')
  const left = () => readdirSync(directory())

  it('has the file, 0600, exactly as long as it runs, also when that throws', async () => {
    const value = await withLock(path(), unaborted(), async () => {
      assert.equal(statSync(path()).mode & 0o777, 0o600)
      return 7
    })
    assert.deepEqual([value, left()], [7, []])
    await assert.rejects(
      withLock(path(), unaborted(), async () => {
        throw new Error('no luck')
      }),
      /^Error: no luck$/,
    )
    assert.deepEqual(left(), [])
  })

  it('lets one in at a time', async () => {
    let inside = 0
    let most = 0
    const enter = () =>
      withLock(path(), unaborted(), async () => {
        most = Math.max(most, ++inside)
        await new Promise((resolve) => setImmediate(resolve))
        inside--
      })
    await Promise.all(Array.from({ length: 20 }, enter))
    assert.deepEqual([most, left()], [1, []])
  })

  it('waits for a living process, until the signal aborts or the time is over, and takes nothing from it', async () => {
    await using program = new Program('hold.ts', [path()])
    assert.equal(await program.line(), 'held')
    const text = readFileSync(path(), 'utf8')
    const leaver = new AbortController()
    const waiting = withLock(path(), leaver.signal, nothing)
    leaver.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    await assert.rejects(
      withLock(path(), unaborted(), nothing, 50),
      refused('ERR_OPEN_TIMEOUT', path(), `"pid":${program.child.pid}`, 'remove it'),
    )
    assert.equal(readFileSync(path(), 'utf8'), text)
  })

  it('breaks the lock of a process that was killed, once, however many find it', async () => {
    await using program = new Program('hold.ts', [path()])
    assert.equal(await program.line(), 'held')
    await program.kill()
    assert.ok(existsSync(path()))
    let inside = 0
    const enter = () =>
      withLock(path(), unaborted(), async () => {
        assert.equal(++inside, 1)
        await new Promise((resolve) => setImmediate(resolve))
        inside--
      })
    await Promise.all(Array.from({ length: 20 }, enter))
    assert.deepEqual(left(), [])
  })

  it('breaks a lock whose breaker was killed, too', async () => {
    const dead = holder({ pid: 2 ** 22 + 1 })
    writeFileSync(path(), dead)
    writeFileSync(`${path()}.${createHash('sha256').update(dead).digest('hex').slice(0, 16)}`, holder({ pid: 2 ** 22 + 2 }))
    assert.equal(left().length, 2)
    await withLock(path(), unaborted(), nothing)
    assert.deepEqual(left(), [])
  })

  it('breaks an empty lock only when nobody can still be writing it', async () => {
    writeFileSync(path(), '')
    await assert.rejects(withLock(path(), unaborted(), nothing, 30), { code: 'ERR_OPEN_TIMEOUT' })
    const longAgo = Date.now() / 1_000 - 3
    utimesSync(path(), longAgo, longAgo)
    await withLock(path(), unaborted(), nothing)
    assert.deepEqual(left(), [])
  })

  it('leaves alone the lock of another that took this one for dead', async () => {
    await withLock(path(), unaborted(), async () => writeFileSync(path(), 'another lock'))
    assert.equal(readFileSync(path(), 'utf8'), 'another lock')
  })

  it('gets in as soon as the lock is gone', async () => {
    writeFileSync(path(), holder({}))
    const waiting = withLock(path(), unaborted(), async () => 'in')
    rmSync(path())
    assert.equal(await waiting, 'in')
    await until(() => left().length === 0)
  })
})

describe('isAbandoned', () => {
  const cases = [
    ['a living process', {}, 0, false],
    ['a living process that is slow', {}, 3_600_000, false],
    ['a process that has ended', { pid: 2 ** 22 + 1 }, 0, true],
    ['an earlier process with a pid that is used again', { startTime: '1' }, 0, true],
    ['a process before the last boot', { boot: 'earlier' }, 0, true],
    ['another container', { pidNamespace: 'pid:[1]', pid: 2 ** 22 + 1 }, 1_000, false],
    ['another container, a minute ago', { pidNamespace: 'pid:[1]' }, 61_000, true],
    ['another machine', { machine: 'other', boot: 'other', pid: 2 ** 22 + 1 }, 1_000, false],
    ['another machine, a minute ago', { machine: 'other', boot: 'other' }, 61_000, true],
    ['a pid that is none', { pid: -1 }, 0, false],
  ] as const
  for (const [whose, change, ageMillis, abandoned] of cases) {
    it(`is ${abandoned} for ${whose}`, () => assert.equal(isAbandoned(holder(change), ageMillis), abandoned))
  }

  it('is true for a process that has ended and is not reaped', async () => {
    // The shell starts a child, which ends once the shell has become a program that waits for none.
    const parent = spawnFixture('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], ['ignore', 'pipe', 'inherit'])
    try {
      let pid = ''
      parent.stdout?.on('data', (text) => {
        pid += text
      })
      const stat = (of: string | number | undefined) => readFileSync(`/proc/${of}/stat`, 'utf8')
      await until(() => pid.endsWith('\n') && stat(parent.pid).includes('(sleep)'))
      process.kill(Number(pid), 'SIGKILL')
      await until(() => /^\d+ \(.*\) Z/.test(stat(pid.trim())))
      assert.equal(isAbandoned(holder({ pid: Number(pid), startTime: '' }), 0), true)
    } finally {
      parent.kill('SIGKILL')
      await exited(parent)
    }
  })
})
