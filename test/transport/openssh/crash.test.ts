import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/clock.ts'
import { endOrphans } from '../../../src/owners/child/orphans.ts'
import { allProcesses, argumentsOf, entryOf } from '../../../src/owners/child/proc.ts'
import { sweep } from '../../../src/owners/directory/sweep.ts'
import { Ledger } from '../../../src/owners/ledger.ts'
import { Scope } from '../../../src/owners/scope.ts'
import { Program } from '../../owners/program.ts'
import { spawnFixture, typescript } from '../../support/child.ts'
import { Bench } from '../../support/master.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const ROUNDS = process.env.WARREN_LONG ? 50 : 2
const FIXTURE = fileURLToPath(new URL('fixtures/open.ts', import.meta.url))

describe('openssh: a process that is killed', () => {
  let sshd: Sshd
  let base: string
  const programs: Program[] = []

  before(async () => {
    sshd = await startSshd({ config: { MaxStartups: '100' } })
  })
  after(() => sshd.close())
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'crash-')))
  })
  afterEach(async () => {
    for (const program of programs.splice(0)) await program.kill()
    await endAll()
    rmSync(base, { recursive: true, force: true })
  })

  /** Living processes with a path in this test's base among their arguments, but for node. */
  const left = () =>
    [...allProcesses()].filter((entry) => {
      const words = entry.isZombie ? [] : argumentsOf(entry.pid)
      return words.some((word) => word.includes(base)) && !words.some((word) => word.includes('open.ts'))
    })
  const endAll = async () => {
    for (const { pid } of left()) process.kill(pid, 'SIGKILL')
    await until(() => left().length === 0, { within: 8_000 })
  }
  const start = (...words: string[]) => {
    const args = [...typescript, FIXTURE, base, JSON.stringify(sshd.target), ...words]
    const program = new Program(spawnFixture(process.execPath, args, ['pipe', 'pipe', 'pipe']))
    programs.push(program)
    return program
  }
  const opened = async (program: Program) => {
    const pids: number[] = []
    for (let line = await program.line(20_000); line !== 'open'; line = await program.line(20_000)) pids.push(Number(line))
    return pids
  }
  const sweeping = () => ({ clock: systemClock, scope: new Scope(new Ledger(), 'sweep'), signal: new AbortController().signal })
  const sweepAll = () => {
    const options = sweeping()
    return sweep({ base, endChildren: (directory) => endOrphans(directory, options), ...options })
  }

  it('takes its ssh with it, and the clients through jumps, by the parent-death signal', async () => {
    const program = start('3', 'stay', 'jump')
    const pids = await opened(program)
    assert.ok(left().length >= pids.length + 1, 'three, and a client through a jump')
    await program.kill()
    await until(() => left().length === 0, { within: 8_000 })
    const swept = await sweepAll()
    assert.deepEqual([swept.directories, swept.processes, readdirSync(base)], [1, 0, []])
  })

  it('without that signal leaves them to the next sweep, which ends all of them, stopped ones too', async () => {
    const program = start('3', 'stay', 'jump', 'without-setpriv')
    const [first = 0] = await opened(program)
    await program.kill()
    const orphans = left().length
    assert.ok(orphans >= 4)
    process.kill(first, 'SIGSTOP')
    const swept = await sweepAll()
    assert.deepEqual([swept.directories, swept.processes, swept.leftAlone, readdirSync(base)], [1, orphans, [], []])
    await until(() => left().length === 0, { within: 8_000 })
  })

  it('is not confused with a living sibling, with an ssh by hand, nor with whoever looks', async () => {
    const dead = start('1', 'stay', 'without-setpriv')
    const [orphan = 0] = await opened(dead)
    await using sibling = new Bench(base)
    const living = await sibling.master(sshd.target)
    await dead.kill()
    const [name = ''] = readdirSync(base).filter((each) => !living.controlPath.startsWith(join(base, each)))
    const directory = join(base, name)
    const [tunnel = ''] = readdirSync(directory).filter((each) => !['owner', 'born'].includes(each))
    const control = join(directory, tunnel, 'c')
    const bystanders = [
      // Holds the pool's directory in its arguments, as an editor or a pager would.
      spawnFixture('/bin/sh', ['-c', 'sleep 60; :', join(directory, tunnel, 'f')], ['ignore', 'ignore', 'ignore']),
      // Looks like ours by its name and flags, in a directory of its own.
      spawnFixture('/bin/sh', ['-c', 'sleep 60; :', '-F', `${directory}x/${tunnel}/f`, '-N'], ['ignore', 'ignore', 'ignore']),
      // An ssh by hand, by way of the dead pool's control socket.
      spawnFixture('ssh', ['-F', 'none', '-S', control, '-W', `127.0.0.1:${sshd.port}`, 'x'], ['pipe', 'ignore', 'ignore']),
      spawnFixture('ssh', ['-F', 'none', '-S', control, 'x', 'sleep 60'], ['pipe', 'ignore', 'ignore']),
    ]
    await until(() => bystanders.every(({ pid }) => argumentsOf(pid ?? 0).length > 2))
    const alive = (pid: number | undefined) => entryOf(pid ?? 0)?.isZombie === false
    const ended = await endOrphans(directory, sweeping())
    assert.equal(ended, 1)
    await until(() => !alive(orphan))
    assert.equal(living.child.exit, undefined)
    assert.ok(bystanders.slice(0, 2).every(({ pid }) => alive(pid)))
    for (const each of bystanders) {
      each.kill('SIGKILL')
      if (each.exitCode === null && each.signalCode === null) await once(each, 'exit')
    }
  })

  it(`at any moment, ${ROUNDS} times: nothing of it runs on, and the next sweep leaves an empty place`, async function () {
    this.timeout(ROUNDS * 10_000)
    for (let round = 0; round < ROUNDS; round += 1) {
      const program = start('3', 'churn', ...(round % 2 === 0 ? ['jump'] : []))
      await program.line(20_000)
      await pause(Math.random() * 700)
      await program.kill()
      await until(() => left().length === 0, {
        within: 8_000,
        what: `round ${round}: ${left().map(({ pid }) => argumentsOf(pid).join(' '))}`,
      })
    }
    await sweepAll()
    assert.deepEqual(readdirSync(base), [])
  })
})
