import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Warren } from './warren.ts'

describe('warren --version', function () {
  this.timeout(60_000)

  it('prints the version of the package that it lies in', async () => {
    const command = await Warren.build()
    try {
      const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
      assert.deepEqual(await command.run('--version'), { code: 0, stdout: `${version}\n`, stderr: '' })
    } finally {
      await command.remove()
    }
  })
})
