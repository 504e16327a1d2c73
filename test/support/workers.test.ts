import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mocha } from './mocha.ts'

const REPORTER = fileURLToPath(new URL('reporter/reporter.cjs', import.meta.url))
const PARALLEL = ['--parallel', '--jobs', '2', '--exit', '--reporter', REPORTER]

describe('a run with workers', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'crashed-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  const run = (name: string, ...files: string[]) =>
    mocha(
      files.map((file) => `crashing/${file}.ts`),
      PARALLEL,
      { CRASHED: join(directory, name) },
    )

  for (const end of ['exits', 'exits-in-hook', 'is-killed', 'throws-at-load']) {
    it(`fails when one ends in the middle of a file, with the file, and goes on: ${end}`, async () => {
      const { code, stdout } = await run(end, end, 'rejects')
      assert.match(stdout, new RegExp(`\\) \\S+/crashing/${end}\\.ts did not come to its end`))
      assert.match(
        stdout,
        /left behind:\nunhandledRejection: Error: nobody hears\n {4}at \S+ \(test\/support\/crashing\/rejects\.ts:2:\d+\)/,
      )
      assert.match(stdout, /^ {2}1 passing .*\n {2}2 failing$/m)
      assert.equal(code, 2)
    })
  }

  it('fails when all of them have ended, and says in which tests', async () => {
    const { code, stderr } = await run('all', 'exits', 'exits-in-hook', 'rejects')
    assert.match(stderr, /crashing\/exits\.ts: exits ended this process with code 0\n/)
    assert.match(stderr, /the run did not come to its end/)
    assert.equal(code, 1)
  })

  it('fails when something comes to grief after the tests of its file', async () => {
    const { code, stdout, stderr } = await run('rejection', 'late-rejection', 'busy')
    assert.match(stdout, /^ {2}3 passing/m)
    assert.match(stderr, /after the tests of a file had ended:\nunhandledRejection: Error: too late\n/)
    assert.equal(code, 1)
  })

  it('fails or tells of every test when a worker is gone after those of its file', async () => {
    const { code, stdout, stderr } = await run('kill', 'late-kill', 'busy')
    if (code === 0) assert.match(stdout, /^ {2}3 passing/m)
    else assert.match(stderr, /the run did not come to its end/)
  })

  it('says what has failed by then when it is told to end', async () => {
    const { code, stdout, stderr } = await run('told', 'rejects', 'ends-its-run', 'late-rejection')
    assert.match(stdout, /^ {2}1 failing$/m)
    assert.match(stderr, /the run did not come to its end/)
    assert.equal(code, 143)
  })

  it('shows an error whatever is in it, and leaves that as it was', async () => {
    const { code, stdout } = await run('objects', 'objects')
    assert.match(stdout, /^ {2}1 passing .*\n {2}2 failing$/m)
    assert.match(stdout, /Error: with much/)
    assert.equal(code, 2)
  })
})
