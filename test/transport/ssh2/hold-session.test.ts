import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')

/** What runs on the host's side of a session, by itself or under the shell that was asked to run it. */
const held = (sshd: Sshd): number =>
  sshd
    .sessions()
    .flatMap(childrenOf)
    .filter((pid) => /^cat /.test(commandOf(pid))).length

describe('ssh2: holdSession', () => {
  it('holds one idle session per tunnel, which ends with it', async () => {
    await using sshd = await startSshd()
    const pool = startPool({ holdSession: true })
    const lease = await pool.acquire(sshd.target)
    await until(() => held(sshd) === 1, { what: 'a held session on the host' })
    assert.equal((await lease.exec('echo beside it')).stdout.toString(), 'beside it\n')
    lease.release()
    await pool.close()
    await until(() => held(sshd) === 0, { what: 'no session on the host' })
  })

  it('is done without where the server grants no session', async () => {
    await using sshd = await startSshd({ config: { MaxSessions: '0' } })
    await using pool = startPool({ holdSession: true })
    const lease = await pool.acquire(sshd.target)
    await pool.probe(sshd.target)
    assert.equal(lease.signal.aborted, false)
    lease.release()
  })
})
