import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { typescript } from '../support/child.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Outcome {
  readonly title: string
  readonly err: { readonly message?: string }
}

/** Runs a file of tests with the root hooks in a mocha of its own. */
function run(file: string): Promise<{ passes: Outcome[]; failures: Outcome[] }> {
  const mocha = ['--no-config', '--no-package', '--require', at('../../src/testing/mocha.ts'), '--reporter', 'json', '--exit']
  return new Promise((resolve, reject) => {
    const args = [...typescript, at('../../node_modules/mocha/lib/cli/cli.js'), ...mocha, at(file)]
    execFile(process.execPath, args, (cause, stdout, stderr) => {
      if (stdout.startsWith('{')) resolve(JSON.parse(stdout))
      else reject(new Error(`no report: ${stdout}${stderr}`, { cause }))
    })
  })
}

describe('the root hooks for mocha', () => {
  it('fail a test, and no other, for what it leaves by the kernel or by a tracked ledger', async () => {
    const { passes, failures } = await run('fixtures/leaky.ts')
    assert.deepEqual(passes.map(({ title }) => title).sort(), [
      'leaves a child',
      'leaves an entry',
      'leaves nothing',
      'leaves nothing either',
    ])
    const messages = failures.map(({ title, err }) => `${title}\n${err.message}`).join('\n')
    assert.match(messages, /kernel: child \d+ sleep/)
    assert.match(messages, /ledger: socket 10\.0\.0\.7:22 of root@10\.0\.0\.7:22#1/)
    assert.match(messages, /for a reason of its own/)
    assert.equal(failures.length, 3)
  })
})
