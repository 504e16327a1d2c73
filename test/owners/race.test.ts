import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { Program } from './program.ts'
import { World } from './world.ts'

const PROCESSES = 20
const MILLIS = process.env.WARREN_LONG === undefined ? 4_000 : 10_000

describe('twenty processes, the same destinations, one base', function () {
  this.timeout(60_000)
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  async function race(fixture: string, millis: number): Promise<Program[]> {
    const programs = Array.from({ length: PROCESSES }, () => world.start(fixture, [world.base, String(millis)]))
    for (const program of programs) assert.equal(await program.line(30_000), 'ready')
    for (const program of programs) program.say('go')
    return programs
  }

  it('baseline: shared directories, made and removed recursively, fail within a second', async () => {
    const programs = await race('naive.mjs', 1_000)
    const said = await Promise.all(programs.map((program) => program.line()))
    assert.ok(
      said.some((word) => word !== 'no error'),
      said.join(),
    )
  })

  it(`directories with one owner each open and close for ${MILLIS / 1_000} s without an error, while others sweep`, async () => {
    const programs = await race('race.ts', MILLIS)
    let isOver = false
    const ended = Promise.all(programs.map((program) => program.line(MILLIS + 20_000))).finally(() => {
      isOver = true
    })
    while (!isOver) assert.equal((await world.sweep()).directories, 0)
    const opened = (await ended).map(Number)
    assert.ok(
      opened.every((count) => count > 20),
      opened.join(),
    )
    for (const program of programs) assert.equal(await program.exit(), 0, program.stderr)
    assert.deepEqual(readdirSync(world.base), [])
    process.stderr.write(`      ${opened.reduce((sum, count) => sum + count)} openings\n`)
  })
})
