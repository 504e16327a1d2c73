import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program } from '../../owners/program.ts'
import { spawnFixture, typescript } from '../../support/child.ts'
import { startSshd } from '../../support/sshd.ts'

const CYCLES = process.env.WARREN_LONG ? 50 : 6
const FIXTURE = fileURLToPath(new URL('fixtures/first-process.ts', import.meta.url))

describe('openssh: as pid 1, in a container without an init', () => {
  it(`has no zombie and no stray after ${CYCLES} cycles but those it counts, and says so once`, async function () {
    this.timeout(20_000 + CYCLES * 2_000)
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'first-')))
    await using sshd = await startSshd()
    const words = ['-pf', '--kill-child', '--mount-proc', process.execPath, ...typescript, FIXTURE]
    const args = [base, JSON.stringify(sshd.target), String(CYCLES)]
    const program = new Program(spawnFixture('unshare', [...words, ...args], ['pipe', 'pipe', 'pipe']))
    try {
      const said = JSON.parse(await program.line(20_000 + CYCLES * 2_000))
      const { unreaped, zombies, warnings, ...rest } = said
      assert.deepEqual(rest, { living: 1, ledger: 0, left: [] })
      assert.equal(zombies, unreaped, 'each zombie is accounted for')
      const hard = Array.from({ length: CYCLES }, (_, cycle) => cycle).filter((cycle) => cycle % 10 === 3).length
      assert.equal(unreaped, hard, 'only the helper of an ssh that was killed is left to pid 1')
      assert.equal(warnings.length, 1, String(warnings))
    } finally {
      await program.kill()
      rmSync(base, { recursive: true, force: true })
    }
  })
})
