import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Asked } from '../../src/report.ts'
import { makePool, startHost } from '../pool/world.ts'
import { Warren } from './warren.ts'

describe('warren report', function () {
  this.timeout(60_000)
  let command: Warren
  let base: string

  before(async () => {
    command = await Warren.build()
    base = await mkdtemp(join(tmpdir(), 'report-'))
  })
  after(async () => {
    await command.remove()
    await rm(base, { recursive: true })
  })

  const report = (...args: string[]) => command.run('report', '--runtime-directory', base, ...args)

  it('says how a running pool is, and who holds what, by its owner socket', async () => {
    await using site = await startHost()
    await using pool = makePool({ runtimeDirectory: base, traceLeases: true })
    const lease = await pool.acquire(
      { ...site.target, label: 'gpu-7' },
      { label: 'nightly', forwards: { web: { to: { port: 80 } } } },
    )
    const [directory = ''] = await readdir(base)
    const { mode } = await stat(join(base, directory, 'owner'))
    assert.equal(mode & 0o777, 0o600)
    const { code, stdout, stderr } = await report()
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, new RegExp(`^pid ${process.pid}, up \\d+ s$`, 'm'))
    assert.match(stdout, /^ {2}destinations {2}1 serving$/m)
    assert.match(stdout, /^ {2}lease nightly on fleet@127\.0\.0\.1:\d+#1 #1 for \d+ s$/m)
    const [asked] = JSON.parse((await report('--json')).stdout) as Asked[]
    assert.equal(asked?.report?.tunnels[0]?.label, 'gpu-7')
    assert.deepEqual(asked?.report?.stats, JSON.parse(JSON.stringify(pool.stats)))
    const said = JSON.stringify(asked?.report)
    assert.ok(!said.includes(base) && !said.includes('.test.ts'), 'no folder, no stack')
    lease.release()
  })

  it('says with 1 that there is none, and with 2 that a base cannot be used', async () => {
    const { code, stdout } = await report()
    assert.equal(code, 1)
    assert.match(stdout, /^No pool of this user has a runtime directory here\. A pool makes one for/)
    assert.equal((await command.run('report', '--runtime-directory', '/nonexistent')).code, 2)
  })
})
