import assert from 'node:assert/strict'
import type { Target } from '../../src/api/target.ts'
import { startSshd } from '../support/sshd.ts'
import { listen, makePool, named } from './world.ts'

describe('B69 an sshd with MaxStartups 2:100:2 and many keys', () => {
  for (const [what, keys, options] of [
    ['when told what it can take', 100, { maxOpeningPerAddress: 2 }],
    ['by back-off alone', 25, { backoffMinMillis: 20, backoffMaxMillis: 200 }],
  ] as const) {
    it(`has all up within a bound, ${what}`, async () => {
      await using sshd = await startSshd({ config: { MaxStartups: '2:100:2' } })
      await using pool = makePool(options)
      const told = listen(pool)
      const targets = Array.from({ length: keys }, (_, index): Target => ({ ...sshd.target, hostKeyAlias: `host-${index}` }))
      const leases = await Promise.all(targets.map((target) => pool.acquire(target, { whenResting: 'wait' })))
      assert.equal(new Set(leases.map(({ generation }) => generation)).size, keys)
      const codes = new Set(named(told, 'tunnel.failed').map(({ error }) => error.code))
      assert.ok(
        [...codes].every((code) => code === 'ERR_RESET'),
        `${[...codes]}`,
      )
      assert.ok(leases.every(({ signal }) => !signal.aborted))
      for (const lease of leases) lease.release()
    })
  }
})
