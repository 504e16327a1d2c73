import assert from 'node:assert/strict'
import type { Target } from '../../src/api/target.ts'
import { startFleet } from '../../src/testing/index.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { jumpOver, nameOf, TRANSPORTS } from './chain.ts'
import { check, listen, makePool, named, rejection } from './world.ts'

const isLong = process.env.WARREN_LONG === '1'
/** An ssh each costs more. */
const HOSTS = { ssh2: isLong ? 200 : 40, openssh: isLong ? 200 : 16 }
const within = 60_000

/** OpenSSH's own server as it comes, but for what it logs, before so many hosts. */
async function startBastion(hosts: number) {
  const sshd = await startSshd({ config: { MaxStartups: '10:30:60' } })
  const fleet = await startFleet({ hosts })
  const targets: Target[] = fleet.targets.map((target) => ({ ...target, jumps: [jumpOver(sshd.target)] }))
  return {
    sshd,
    fleet,
    targets,
    logins: () => sshd.log().match(/Accepted publickey/g)?.length ?? 0,
    dropped: () => sshd.log().match(/beginning MaxStartups throttling|drop connection/g)?.length ?? 0,
    [Symbol.asyncDispose]: async () => void (await Promise.all([fleet.close(), sshd.close()])),
  }
}

for (const transport of TRANSPORTS)
  describe(`${HOSTS[transport]} targets behind one bastion (${transport})`, () => {
    it('are all up by one login on it; when it is killed all name it, and all come back by one more', async function () {
      this.timeout(2 * within)
      await using bastion = await startBastion(HOSTS[transport])
      const { sshd, fleet, targets } = bastion
      await using pool = makePool({ transport, acquireTimeoutMillis: within })
      const told = listen(pool)
      const acquireAll = () => Promise.all(targets.map((target) => pool.acquire(target, { whenResting: 'wait' })))
      const leases = await acquireAll()
      assert.deepEqual([bastion.logins(), bastion.dropped()], [1, 0])
      await Promise.all(leases.map((lease, index) => check(lease, fleet.hosts[index]?.http ?? assert.fail())))

      await sshd.stop('SIGKILL')
      await until(() => leases.every(({ signal }) => signal.aborted), { within })
      for (const { signal } of leases) assert.equal(signal.reason.hop, nameOf(sshd.target))
      assert.equal(named(told, 'tunnel.lost').filter(({ error }) => error.hop === nameOf(sshd.target)).length, HOSTS[transport])
      const failed = await Promise.all(targets.map((target) => rejection(pool.acquire(target))))
      for (const { hop } of failed) assert.equal(hop, nameOf(sshd.target))

      await sshd.start()
      const again = await acquireAll()
      await Promise.all(again.map((lease, index) => check(lease, fleet.hosts[index]?.http ?? assert.fail())))
      assert.deepEqual([bastion.logins(), bastion.dropped()], [2, 0])
      for (const { counts } of fleet.hosts) assert.equal(counts.logins, 2)
      for (const target of targets) assert.equal(pool.health(target).failures, 0)
    })

    for (const most of [1, 2])
      it(`do not wait for each other when ${most} may connect, log in and be open (a jump and ${most === 1 ? 'a target' : 'one more'})`, async function () {
        this.timeout(2 * within)
        await using bastion = await startBastion(isLong ? HOSTS[transport] : 12)
        await using pool = makePool({
          transport,
          maxConnecting: most,
          maxOpening: most,
          maxTunnels: most + 1,
          acquireTimeoutMillis: within,
        })
        await Promise.all(
          bastion.targets.map((target, index) =>
            pool.use(target, (lease) => check(lease, bastion.fleet.hosts[index]?.http ?? assert.fail())),
          ),
        )
        assert.equal(bastion.logins(), 1)
        assert.ok(pool.stats.tunnels.open <= most + 1)
      })
  })
