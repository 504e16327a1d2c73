import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import promises from 'node:fs/promises'
import { createTrust } from '../../src/trust/host-keys.ts'
import { holderText } from '../../src/trust/lock-holder.ts'
import { until } from '../support/until.ts'
import { acceptingFile } from './accepting.ts'
import { refused, replacing, someKeys, unaborted } from './given.ts'
import { Program } from './program.ts'

type Open = typeof promises.open

describe('first meetings with a file to write, at once', () => {
  const { file, lock, lines, expect, meet, left } = acceptingFile()
  const { ed, other, rsa } = someKeys()
  /** Runs `fn`, which is told how often the lock has been tried for. */
  const watchingLock = (fn: (tries: () => number) => Promise<void>) => {
    let tries = 0
    const watched =
      (open: Open) =>
      (...args: Parameters<Open>) => {
        if (args[0] === lock() && args[1] === 'wx') tries++
        return open(...args)
      }
    return replacing('open', watched, () => fn(() => tries))
  }

  it('looks again before it decides: what came between the look-up and the key counts', async () => {
    for (const [line, outcome] of [
      [`gpu-7 ${ed.line}`, undefined],
      [`gpu-7 ${other.line}`, 'has changed'],
      [`@revoked * ${ed.line}`, 'is revoked'],
    ] as const) {
      writeFileSync(file(), '')
      const expectation = await expect(createTrust(), 'gpu-7')
      writeFileSync(file(), `${line}\n`)
      const verified = expectation.verify(ed.blob, unaborted())
      if (outcome === undefined) await verified
      else await assert.rejects(verified, refused('ERR_HOST_KEY', outcome))
      assert.deepEqual(lines(), [line, ''])
    }
  })

  it('looks again under the lock', async () => {
    writeFileSync(lock(), holderText())
    await watchingLock(async (tries) => {
      const refusal = assert.rejects(meet(createTrust(), 'gpu-7', ed), refused('ERR_HOST_KEY', 'has changed', other.fingerprint))
      await until(() => tries() > 0)
      // The other process writes its line, then lets go of its lock.
      writeFileSync(file(), `gpu-7 ${other.line}\n`)
      await promises.unlink(lock())
      await refusal
    })
    assert.deepEqual(lines(), [`gpu-7 ${other.line}`, ''])
  })

  it('writes a thousand hosts met at once, each whole and once', async () => {
    const trust = createTrust()
    const hosts = Array.from({ length: 1_000 }, (_, i) => `host-${i}`)
    await Promise.all([...hosts, ...hosts].map((host) => meet(trust, host, ed)))
    assert.deepEqual(lines().sort(), ['', ...hosts.map((host) => `${host} ${ed.line}`)].sort())
    assert.deepEqual(left(), ['known_hosts'])
  })

  it('does not ask for the lock when the key is known by now, as at every rekey', async () => {
    const expectation = await expect(createTrust(), 'gpu-7')
    await watchingLock(async (tries) => {
      for (let i = 0; i < 3; i++) await expectation.verify(ed.blob, unaborted())
      assert.equal(tries(), 1)
    })
  })

  it('believes the first of two keys of one host met at once', async () => {
    const trust = createTrust()
    const outcomes = await Promise.allSettled([meet(trust, 'gpu-7', ed), meet(trust, 'gpu-7', other), meet(trust, 'gpu-7', rsa)])
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
    assert.equal(lines().length, 2)
  })

  it('two processes that meet fifty hosts at once agree on each key, over the lock of a third that died', async function () {
    this.timeout(60_000)
    const names = Array.from({ length: 50 }, (_, i) => `host-${i}`)
    writeFileSync(lock(), JSON.stringify({ ...JSON.parse(holderText()), pid: 2 ** 22 + 1 }))
    await using first = new Program('meet.ts', [file(), ed.blob.toString('base64'), ...names])
    await using second = new Program('meet.ts', [file(), other.blob.toString('base64'), ...names.toReversed()])
    for (const program of [first, second]) assert.equal(await program.line(), 'ready')
    for (const program of [first, second]) program.tell('go')
    const accepted: string[] = JSON.parse(await first.line())
    const acceptedBySecond: string[] = JSON.parse(await second.line()).toReversed()
    for (const [i, name] of names.entries()) {
      const [winner, loser] = accepted[i] === 'accepted' ? [ed, acceptedBySecond[i]] : [other, accepted[i]]
      assert.deepEqual([accepted[i], acceptedBySecond[i]].sort(), ['ERR_HOST_KEY', 'accepted'], name)
      assert.equal(loser, 'ERR_HOST_KEY')
      assert.ok(lines().includes(`${name} ${winner.line}`), name)
    }
    assert.equal(lines().length, 51)
    assert.deepEqual(left(), ['known_hosts'])
  })

  it('stops waiting for the lock when nobody waits for it any longer, and serves whoever comes then', async () => {
    const holding = holderText()
    writeFileSync(lock(), holding)
    const trust = createTrust()
    await watchingLock(async (tries) => {
      const leavers = [new AbortController(), new AbortController()]
      const left = leavers.map(({ signal }) => assert.rejects(meet(trust, 'gpu-7', ed, signal), /^Error: enough$/))
      await until(() => tries() > 0)
      const stayer = new AbortController()
      const stayed = meet(trust, 'gpu-8', ed, stayer.signal)
      for (const leaver of leavers) leaver.abort(new Error('enough'))
      await Promise.all(left)
      assert.equal(readFileSync(lock(), 'utf8'), holding)
      await promises.unlink(lock())
      await stayed
    })
    assert.deepEqual(lines(), [`gpu-8 ${ed.line}`, ''])
  })

  it('serves whoever comes after all have left and before the wait has ended', async () => {
    writeFileSync(lock(), holderText())
    let goOn = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let [tries, looks] = [0, 0]
    const holding =
      (open: Open) =>
      async (...args: Parameters<Open>) => {
        if (args[0] === lock() && tries++ === 0) await held
        return open(...args).finally(() => void (args[0] === file() && looks++))
      }
    await replacing('open', holding, async () => {
      const trust = createTrust()
      const leaver = new AbortController()
      const left = assert.rejects(meet(trust, 'gpu-7', ed, leaver.signal), /^Error: enough$/)
      await until(() => tries > 0)
      leaver.abort(new Error('enough'))
      await left
      const before = looks
      const stayed = meet(trust, 'gpu-8', ed)
      await until(() => looks === before + 2)
      await new Promise((resolve) => setImmediate(resolve))
      goOn()
      await until(() => tries > 1)
      await promises.unlink(lock())
      await stayed
    })
    assert.deepEqual(lines(), [`gpu-8 ${ed.line}`, ''])
  })

  it('does not try for the lock any more when all have left', async () => {
    writeFileSync(lock(), holderText())
    await watchingLock(async (tries) => {
      const leaver = new AbortController()
      const left = assert.rejects(meet(createTrust(), 'gpu-7', ed, leaver.signal), /^Error: enough$/)
      await until(() => tries() > 0)
      leaver.abort(new Error('enough'))
      await left
      const before = tries()
      await promises.unlink(lock())
      // Longer than the longest pause between two tries.
      await new Promise((resolve) => setTimeout(resolve, 60))
      assert.equal(tries(), before)
    })
    assert.deepEqual(left(), [])
  })
})
