import assert from 'node:assert/strict'
import type { Target } from '../../src/index.ts'
import { census } from '../../src/testing/index.ts'
import { makePool, rejection } from '../pool/world.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit } from '../support/tarpit.ts'
import { until } from '../support/until.ts'
import { sshProcesses } from './world.ts'

const isLong = process.env.WARREN_LONG === '1'

describe('faults of ssh processes (openssh)', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  it('B01, B02: opened, killed by SIGKILL and opened again, there is one ssh at most, and commands work', async () => {
    await using pool = makePool({ transport: 'openssh' })
    const rounds = isLong ? 20 : 5
    for (let round = 0; round < rounds; round += 1) {
      const lease = await pool.acquire(sshd.target, { forwards: { web: { to: { port: 1 } } } })
      assert.equal(sshProcesses().length, 1)
      assert.equal((await lease.exec('echo on')).stdout.toString(), 'on\n')
      for (const { pid } of sshProcesses()) process.kill(pid, 'SIGKILL')
      await until(() => lease.signal.aborted)
      lease.release()
      await until(() => sshProcesses().length === 0)
    }
    assert.equal((await census()).zombies, 0)
  })

  it('B04: the process that reaches a host through a dead bastion goes with the dial that is given up', async () => {
    await using bastion = await startTarpit()
    await using pool = makePool({ transport: 'openssh' })
    const jump = { host: bastion.host, port: bastion.port }
    const target: Target = { ...sshd.target, jumps: [jump] }
    const giveUp = new AbortController()
    const waiting = rejection(pool.acquire(target, { signal: giveUp.signal }), 'ERR_ABORTED')
    await until(() => bastion.connections > 0, { within: 5_000 })
    giveUp.abort()
    await waiting
    await pool.close({ timeoutMillis: 0 })
    assert.deepEqual(sshProcesses(), [])
    assert.equal((await census()).zombies, 0)
  })
})
