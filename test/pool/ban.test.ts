import assert from 'node:assert/strict'
import type { TunnelError } from '../../src/errors.ts'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { makeFastPool, rejection } from './world.ts'

const TIMES = 250

describe('B61 a wrong key, asked for by 5 callers every second for 10 minutes', () => {
  it('costs a handful of logins, and none once the first is a minute old', async () => {
    await using sshd = await startSshd()
    const began = performance.now()
    await using pool = makeFastPool(TIMES, { openTimeoutMillis: Infinity })
    const target = { ...sshd.target, identity: { key: makeKeyPair().private } }
    const logins = () => sshd.log().match(/Connection from /g)?.length ?? 0
    const codes = new Set<string>()
    let atBar: number | undefined
    let asked = 0
    await until(
      async () => {
        const errors = await Promise.all(
          Array.from({ length: 5 }, () => rejection(pool.acquire(target, { timeoutMillis: Infinity }))),
        )
        for (const error of errors)
          codes.add(error.code === 'ERR_CIRCUIT_OPEN' ? `rests: ${(error.cause as TunnelError).code}` : error.code)
        asked += 5
        if (pool.health(target).state === 'barred') atBar ??= logins()
        return (performance.now() - began) * TIMES > 600_000
      },
      { within: 10_000 },
    )
    assert.deepEqual([...codes].sort(), ['ERR_AUTH', 'rests: ERR_AUTH'])
    assert.equal(pool.health(target).state, 'barred')
    assert.ok(logins() >= 3 && logins() <= 15, `${logins()} logins for ${asked} acquires`)
    assert.equal(logins(), atBar)
  })
})
