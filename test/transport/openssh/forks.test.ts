import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program } from '../../owners/program.ts'
import { spawnFixture, typescript } from '../../support/child.ts'
import { startSshd } from '../../support/sshd.ts'
import { echo, startTcpServer } from '../../support/tcp-server.ts'

const [TUNNELS, ROUNDS] = process.env.WARREN_LONG ? [20, 10_000] : [2, 60]
const FIXTURE = fileURLToPath(new URL('fixtures/busy.ts', import.meta.url))

describe('openssh: processes, counted by strace', () => {
  it(`is one fork per tunnel, and none for ${ROUNDS} connections, commands, probes and forwards`, async function () {
    this.timeout(20_000 + ROUNDS * 20)
    const directory = mkdtempSync(join(tmpdir(), 'forks-'))
    await using sshd = await startSshd({ config: { MaxStartups: '100' } })
    await using server = await startTcpServer(echo)
    const trace = join(directory, 'trace')
    const strace = ['-f', '--seccomp-bpf', '-qq', '-e', 'trace=clone,clone3,fork,vfork,execve', '-e', 'signal=none', '-o', trace]
    const words = [
      process.execPath,
      ...typescript,
      FIXTURE,
      JSON.stringify(sshd.target),
      String(server.port),
      String(TUNNELS),
      String(ROUNDS),
    ]
    const program = new Program(spawnFixture('strace', [...strace, ...words], ['pipe', 'pipe', 'pipe']))
    try {
      assert.deepEqual(JSON.parse(await program.line(20_000 + ROUNDS * 20)), { checks: ROUNDS, opened: TUNNELS })
      assert.equal(await program.exit(), 0)
      const calls = readFileSync(trace, 'utf8').split('\n')
      const forks = calls.filter(
        (call) =>
          /\b(?:clone|clone3|fork|vfork)\(/.test(call) &&
          !call.includes('CLONE_THREAD') &&
          / = \d+$|<unfinished \.\.\.>$/.test(call),
      )
      assert.equal(forks.length, TUNNELS, forks.join('\n'))
      const programs = calls.flatMap(
        (call) => /\bexecve\("([^"]+)".*(?: = 0|<unfinished \.\.\.>)$/.exec(call)?.[1]?.split('/').at(-1) ?? [],
      )
      const counted = (name: string) => programs.filter((each) => each === name).length
      assert.deepEqual([counted('ssh'), counted('setpriv'), programs.length], [TUNNELS, TUNNELS, 1 + 2 * TUNNELS])
    } finally {
      await program.kill()
      rmSync(directory, { recursive: true })
    }
  })
})
