import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Target } from '../../src/index.ts'
import { census } from '../../src/testing/index.ts'
import { makePool, rejection } from '../pool/world.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit } from '../support/tarpit.ts'
import { until } from '../support/until.ts'
import { fetchBy, TRANSPORTS } from './world.ts'

const isLong = process.env.WARREN_LONG === '1'

for (const transport of TRANSPORTS)
  describe(`faults that show only by repetition (${transport})`, () => {
    let sshd: Sshd
    let origin: Origin

    before(async () => {
      ;[sshd, origin] = await Promise.all([startSshd(), startOrigin()])
    })
    after(() => Promise.all([sshd.close(), origin.close()]))

    const logins = () => sshd.log().match(/Accepted publickey/g)?.length ?? 0

    it('B09: a poller of a few hosts logs in to each once, however often it checks', async () => {
      const before = logins()
      await using pool = makePool({ transport })
      const hosts: Target[] = Array.from({ length: 3 }, (_, n) => ({ ...sshd.target, hostKeyAlias: `host-${n}` }))
      const ticks = isLong ? 300 : 15
      for (let tick = 0; tick < ticks; tick += 1)
        await Promise.all(
          hosts.map((host) => pool.use(host, async (lease) => assert.match(await fetchBy(lease, origin.port), /200 OK/))),
        )
      assert.equal(logins() - before, hosts.length)
      assert.equal(pool.stats.opened, hosts.length)
      assert.equal(pool.stats.tunnels.open, hosts.length)
    })

    it('B20, B22: cycles of success, a refused login, a deadline, a cancel and a killed session leave no descriptor, file or key', async () => {
      await using tarpit = await startTarpit()
      const runtimeDirectory = join(sshd.directory, 'run')
      await mkdir(runtimeDirectory, { recursive: true, mode: 0o700 })
      await using pool = makePool({ transport, runtimeDirectory, openTimeoutMillis: 5_000 })
      const dead: Target = { ...sshd.target, host: tarpit.host, port: tarpit.port }
      const cycle = async () => {
        await pool.use(sshd.target, (lease) => lease.exec('true'), { exclusive: true })
        const stranger: Target = { ...sshd.target, user: 'nobody' }
        pool.reset(stranger)
        await rejection(pool.acquire(stranger), 'ERR_AUTH')
        const cancel = new AbortController()
        const waiting = rejection(pool.acquire(dead, { signal: cancel.signal, whenResting: 'wait' }), 'ERR_ABORTED')
        await until(() => pool.stats.tunnels.opening > 0)
        cancel.abort()
        await waiting
        const lease = await pool.acquire(sshd.target, { exclusive: true })
        sshd.killSessions()
        await until(() => lease.signal.aborted)
        lease.release()
        await pool.settled()
      }
      await cycle()
      const first = (await census()).descriptors
      const cycles = isLong ? 100 : transport === 'ssh2' ? 4 : 2
      for (let n = 0; n < cycles; n += 1) await cycle()
      await until(async () => (await census()).descriptors <= first + 2, { what: `no more than ${first} descriptors` })
      await pool.close({ timeoutMillis: 0 })
      assert.deepEqual(await readdir(runtimeDirectory), [])
    })
  })
