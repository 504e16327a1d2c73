import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TunnelPool } from '../../src/api/pool.ts'
import { Ledger } from '../../src/owners/ledger.ts'
import { assertNoLeaks, census } from '../../src/testing/index.ts'
import { closeServer } from '../../src/testing/server.ts'

function poolOver(ledger: Ledger): TunnelPool {
  const part: Pick<TunnelPool, 'resources'> = { resources: () => ledger.entries() }
  return part as TunnelPool
}

describe('assertNoLeaks', () => {
  it('accepts a pool that holds nothing', async () => {
    const baseline = await census()
    await assertNoLeaks(poolOver(new Ledger()))
    await assertNoLeaks(poolOver(new Ledger()), { baseline })
  })

  it('waits for what is about to go', async () => {
    const ledger = new Ledger()
    const baseline = await census()
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    const entry = ledger.enter('child', 'sleep', 'a#1')
    child.once('exit', () => ledger.strike(entry))
    setImmediate(() => child.kill())
    await assertNoLeaks(poolOver(ledger), { baseline })
    assert.equal(child.signalCode, 'SIGTERM')
  })

  it('lists what is left, by the ledger and by the kernel', async () => {
    const runtimeDirectory = mkdtempSync(join(tmpdir(), 'leaks-'))
    const ledger = new Ledger()
    const entry = ledger.enter('socket', '10.0.0.7:22', 'root@10.0.0.7:22#1')
    const baseline = await census({ runtimeDirectory })
    const server = createServer()
    await new Promise<void>((resolve) => server.listen({ path: join(runtimeDirectory, 's') }, resolve))
    writeFileSync(join(runtimeDirectory, 'key'), '')
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    const listener = (): void => {}
    process.on('SIGUSR2', listener)
    const failure = await assertNoLeaks(poolOver(ledger), { baseline, settleMillis: 30 }).then(
      () => assert.fail('it saw nothing'),
      (error: unknown) => error,
    )
    assert.ok(failure instanceof assert.AssertionError)
    const lines = failure.message.split('\n')
    assert.match(lines[0] ?? '', /^\d+ left after 30 ms:$/)
    for (const expected of [
      /^ {2}ledger: socket 10\.0\.0\.7:22 of root@10\.0\.0\.7:22#1 since 20/,
      new RegExp(`^ {2}kernel: child ${child.pid} sleep$`),
      new RegExp(`^ {2}kernel: listener unix ${runtimeDirectory}/s$`),
      /^ {2}kernel: file key$/,
      /^ {2}kernel: \d+ descriptors, were \d+$/,
      /^ {2}kernel: 1 process\.on\(SIGUSR2\), were 0$/,
    ]) {
      assert.ok(
        lines.some((line) => expected.test(line)),
        `${expected} in\n${failure.message}`,
      )
    }
    process.off('SIGUSR2', listener)
    child.kill()
    await Promise.all([once(child, 'exit'), closeServer(server)])
    rmSync(runtimeDirectory, { recursive: true })
    ledger.strike(entry)
    await assertNoLeaks(poolOver(ledger), { baseline })
  })

  it('believes the ledger alone without a baseline', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    await assertNoLeaks(poolOver(new Ledger()), { settleMillis: 0 })
    child.kill()
    await once(child, 'exit')
  })
})
