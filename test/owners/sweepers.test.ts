import assert from 'node:assert/strict'
import { readdirSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { until } from '../support/until.ts'
import { World } from './world.ts'

const prefix = `warren-${process.geteuid?.()}-`
const NOTHING = { directories: 0, processes: 0, leftAlone: [] }

describe('several sweepers, many directories', () => {
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  it('renames what it takes to a name that the next sweep finds', async () => {
    const [path = ''] = await world.dead(1)
    const seen = new Set<string | null>()
    const watcher = watch(world.base, (_event, name) => seen.add(name))
    assert.equal((await world.sweep()).directories, 1)
    await until(() => seen.size === 2).finally(() => watcher.close())
    for (const name of seen) assert.ok(name?.startsWith(prefix))
    assert.ok(seen.has(basename(path)))
  })

  it('takes what a sweeper that was killed half way left', async () => {
    let left = 0
    // On a busy machine it may be through before it is killed.
    while (left === 0) {
      await world.dead(400)
      const program = world.start('sweep.ts', [world.base])
      await until(() => readdirSync(world.base).length < 300, { within: 15_000 })
      await program.kill()
      left = readdirSync(world.base).length
    }
    const { directories, leftAlone } = await world.sweep()
    // One may have been hit between its last two steps, some 20 µs: it has no owner socket then.
    assert.ok(leftAlone.length <= 1, leftAlone.join())
    assert.equal(directories + leftAlone.length, left)
    assert.equal(readdirSync(world.base).length, leftAlone.length)
  })

  for (const sweepers of [2, 5]) {
    it(`${sweepers} at once on 50 dead directories: all gone, each counted once`, async () => {
      await world.dead(50)
      const all = await Promise.all(Array.from({ length: sweepers }, () => world.sweep()))
      assert.deepEqual(readdirSync(world.base), [])
      assert.equal(
        all.reduce((sum, { directories }) => sum + directories, 0),
        50,
      )
      assert.deepEqual(
        all.flatMap(({ leftAlone }) => leftAlone),
        [],
      )
    })
  }

  it('takes 1,000 in a few seconds, with few descriptors', async () => {
    await world.dead(1_000)
    const descriptors = (): number => readdirSync('/proc/self/fd').length
    const before = descriptors()
    const started = performance.now()
    const cpu = process.cpuUsage()
    let most = 0
    const counting = setInterval(() => {
      most = Math.max(most, descriptors())
    }, 5)
    const swept = await world.sweep().finally(() => clearInterval(counting))
    const millis = performance.now() - started
    assert.deepEqual(swept, { ...NOTHING, directories: 1_000 })
    const { user, system } = process.cpuUsage(cpu)
    // One after the other, with a second between the two times that each is asked, they would take a quarter of an hour.
    assert.ok(millis < 20_000 && user + system < 5_000_000, `${millis} ms, ${(user + system) / 1_000} ms of CPU`)
    assert.ok(most - before <= 20, `${most - before} descriptors`)
    process.stderr.write(`      ${Math.round(millis)} ms, at most ${most - before} descriptors more\n`)
  }).timeout(30_000)
})
