import assert from 'node:assert/strict'
import { TunnelError } from '../../../src/index.ts'
import { startPool } from '../../support/pool.ts'
import { startRelay } from '../../support/relay.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'

const STEP_BYTES = 83
const CODES = new Set(['ERR_RESET', 'ERR_LOST'])

describe('ssh2: B46, a reset', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd({ config: { MaxStartups: '100' } })
  })

  after(() => sshd.close())

  for (const from of ['server', 'client'] as const) {
    it(`after any number of bytes of the ${from} is one error of ours, and nothing unheard`, async () => {
      await using relay = await startRelay(sshd)
      await using pool = startPool({ backoffMinMillis: 0, backoffMaxMillis: 0 })
      const target = relay.through(sshd.target)
      const phases = new Set<string>()
      let isUp = false
      for (let bytes = 0; !isUp; bytes += STEP_BYTES) {
        relay.resetAt(bytes, from)
        const outcome = await pool.acquire(target).then(
          (lease) => lease,
          (error) => error,
        )
        pool.reset(target)
        if (outcome instanceof Error) {
          assert.ok(TunnelError.is(outcome) && CODES.has(outcome.code), outcome.stack)
          if (outcome.code === 'ERR_RESET') phases.add(String(outcome.phase))
          continue
        }
        relay.resetAt(undefined)
        isUp = true
        outcome.release()
        // Again and again until long after the end.
        const closing = pool.close({ timeoutMillis: 0 })
        relay.reset()
        await closing
        relay.reset()
      }
      for (const phase of ['banner', 'kex', 'auth']) assert.ok(phases.has(phase), `${phase} is not among ${[...phases]}`)
    })
  }
})
