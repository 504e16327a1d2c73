import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Warren } from './warren.ts'

const run = promisify(execFile)

describe('warren completion', function () {
  this.timeout(60_000)
  let command: Warren

  before(async () => {
    command = await Warren.build()
  })
  after(() => command.remove())

  it('completes commands and their options in bash itself', async () => {
    const { stdout: script, code } = await command.run('completion', 'bash')
    assert.equal(code, 0)
    const complete = async (...words: string[]) => {
      const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _warren; printf '%s\\n' "\${COMPREPLY[@]}"`
      return (await run('bash', ['-c', `${script}\n${set}`])).stdout.split('\n').filter(Boolean)
    }
    assert.deepEqual(await complete('warren', 'sw'), ['sweep'])
    assert.ok((await complete('warren', '')).includes('report'))
    assert.deepEqual(await complete('warren', 'report', '--j'), ['--json'])
    assert.deepEqual(await complete('warren', 'watch', 'targets'), [])
  })

  it('prints what zsh and fish take, and refuses other shells', async () => {
    assert.match((await command.run('completion', 'zsh')).stdout, /^autoload -U \+X bashcompinit/)
    assert.match((await command.run('completion', 'fish')).stdout, /^complete -c warren .*-l json/m)
    assert.equal((await command.run('completion', 'tcsh')).code, 2)
  })
})
