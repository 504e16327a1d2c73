import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { World } from '../owners/world.ts'
import { Warren } from './warren.ts'

describe('warren sweep', function () {
  this.timeout(60_000)
  let world: World
  let command: Warren

  before(async () => {
    command = await Warren.build()
  })
  after(() => command.remove())
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  const sweep = (...args: string[]) => command.run('sweep', '--runtime-directory', world.base, ...args)

  it('says that nothing is left', async () => {
    const { code, stdout } = await sweep()
    assert.deepEqual([code, stdout], [0, 'Nothing is left of dead pools.\n'])
  })

  it('lists what dead pools left and touches nothing, then removes it and leaves a living pool’s alone', async () => {
    const dead = await world.dead(2)
    const living = world.start('pool.ts', [world.base, 'stay'])
    const path = dirname(await living.line())

    const listed = await sweep()
    assert.equal(listed.code, 1)
    assert.deepEqual(
      listed.stdout
        .match(/^dead .*$/gm)
        ?.map((line) => line.replace(/^dead +/, ''))
        .toSorted(),
      dead.toSorted(),
    )
    assert.match(listed.stdout, /2 dead pools left something; remove it with --remove\.\n$/)
    assert.ok(dead.every((each) => existsSync(each)))

    const removed = await sweep('--remove')
    assert.deepEqual([removed.code, removed.stdout], [0, 'Removed 2 directories, ended 0 processes.\n'])
    assert.deepEqual(
      (await readdir(world.base)).map((name) => `${world.base}/${name}`),
      [path],
    )
  })

  it('says it as JSON', async () => {
    const dead = await world.dead(1)
    const { code, stdout } = await sweep('--json')
    assert.deepEqual([code, JSON.parse(stdout)], [1, { dead, leftAlone: [], removed: null }])
  })

  it('refuses a base that cannot be used with 2 and the remedy', async () => {
    const { code, stderr } = await command.run('sweep', '--runtime-directory', `${world.base}/absent`)
    assert.equal(code, 2)
    assert.match(stderr, /absent/)
  })
})
