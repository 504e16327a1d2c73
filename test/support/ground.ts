import type { Lease, TunnelPool } from '../../src/index.ts'
import { type Origin, startOrigin } from './origin.ts'
import { startPool } from './pool.ts'
import { type Sshd, startSshd } from './sshd.ts'

/** What tests stand on: a real sshd with an origin behind it, and a lease of a pool. */
export interface Ground {
  readonly sshd: Sshd
  readonly origin: Origin
  readonly pool: TunnelPool
  readonly lease: Lease
}

/** Lays it for the suite that calls this: sshd and origin for all of its tests, pool and lease for each. It is there from the first `before` on. */
export function layGround(options: Parameters<typeof startOrigin>[0] = {}): Ground {
  const ground = {} as { -readonly [name in keyof Ground]: Ground[name] }

  before(async () => {
    ground.sshd = await startSshd()
    ground.origin = await startOrigin(options)
  })

  after(async () => {
    await Promise.all([ground.sshd.close(), ground.origin.close()])
  })

  beforeEach(async () => {
    ground.pool = startPool()
    ground.lease = await ground.pool.acquire(ground.sshd.target)
  })

  afterEach(async () => {
    ground.lease.release()
    await ground.pool.close()
  })

  return ground
}
