import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { World } from './world.ts'

describe('directories at the end of a process', () => {
  let world: World
  beforeEach(() => {
    world = new World()
  })
  afterEach(() => world.end())

  for (const [how, then, signal, code] of [
    ['it has nothing more to do', 'end', undefined, 0],
    ['it exits in a signal handler', 'exit', 'SIGTERM', 3],
    ['an exception is not caught', 'throw', undefined, 1],
  ] as const) {
    it(`are gone when ${how}`, async () => {
      const program = world.start('pool.ts', [world.base, then, '3'])
      const path = await program.line()
      if (signal !== undefined) {
        for (let count = 0; count < 3; count += 1) await program.line()
        assert.ok(existsSync(path))
        program.signal(signal)
      }
      assert.equal(await program.exit(), code)
      assert.deepEqual(readdirSync(world.base), [])
    })
  }

  it('are gone when it exits at any moment while they are being made', async () => {
    const programs = Array.from({ length: 8 }, (_, turns) => world.start('pool.ts', [world.base, 'exit-early', String(turns)]))
    for (const program of programs) assert.equal(await program.exit(), 0, program.stderr)
    assert.deepEqual(readdirSync(world.base), [])
  })

  it('go with every descriptor used up; none being free at the first use is an error that passes', async () => {
    const program = world.start('exhausted.ts', [world.base], ['prlimit', '--nofile=96'])
    assert.deepEqual(JSON.parse(await program.line()), {
      code: 'ERR_LOCAL_LIMIT',
      leftEarly: 0,
      isTunnelGone: true,
      isPoolGone: true,
      left: [],
      isEtcThere: true,
    })
    assert.equal(await program.exit(), 0)
  })
})
