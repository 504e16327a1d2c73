import assert from 'node:assert/strict'
import { TunnelError } from '../../src/errors.ts'
import { startFleet } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { check, makePool, random } from './world.ts'

const FLAP_MILLIS = 2_500

describe('20 hosts that flap under checks', () => {
  it('have every check settle with an answer or a TunnelError, at a bounded rate of dials, and serve again once they are well', async () => {
    await using fleet = await startFleet({ hosts: 20 })
    const { hosts } = fleet
    const at = random(80)
    const pick = () => hosts[Math.floor(at() * hosts.length)] as (typeof hosts)[number]
    await using pool = makePool({
      keepAliveIntervalMillis: 60,
      keepAliveCountMax: 2,
      channelTimeoutMillis: 150,
      verifyAfterMillis: 100,
      openTimeoutMillis: 200,
      backoffMinMillis: 20,
      backoffMaxMillis: 200,
      barredRetryMillis: 100,
    })
    const codes = new Map<string, number>()
    let isOver = false
    const checkers = hosts.map(async (host) => {
      while (!isOver) {
        let code = 'ok'
        try {
          await pool.use(host.target, (lease) => check(lease, host.http), { timeoutMillis: 500 })
        } catch (error) {
          assert.ok(TunnelError.is(error), String(error))
          code = error.code
        }
        codes.set(code, (codes.get(code) ?? 0) + 1)
        await new Promise((resolve) => setTimeout(resolve, 5 + at() * 10))
      }
    })
    const began = performance.now()
    const switches: Array<() => void> = [
      () => pick().sever(),
      () => pick().freeze(),
      () => pick().refuse(),
      () => pick().rejectAuth(),
      () => pick().delay(30),
      () => pick().garbage(),
      () => pick().muteChannels(),
    ]
    const mend = (host: (typeof hosts)[number]) => {
      host.thaw()
      host.refuse(false)
      host.rejectAuth(false)
      host.delay(0)
      host.muteChannels(false)
    }
    while (performance.now() - began < FLAP_MILLIS) {
      switches[Math.floor(at() * switches.length)]?.()
      mend(pick())
      await new Promise((resolve) => setTimeout(resolve, 8))
    }
    const rotated = hosts.slice(0, 2)
    for (const host of hosts) mend(host)
    for (const host of rotated) {
      host.rotateHostKey()
      host.sever()
    }
    const states = () => hosts.map(({ target }) => pool.health(target).state)
    const well = hosts.map((_, index) => (index < rotated.length ? 'barred' : 'serving'))
    await until(() => String(states()) === String(well), {
      within: 15_000,
      what: 'all are well, but the two whose key has changed',
    })
    const requests = hosts.map(({ counts }) => counts.requests)
    await until(() =>
      hosts.slice(rotated.length).every(({ counts }, index) => counts.requests > (requests[index + rotated.length] ?? 0)),
    )
    isOver = true
    await Promise.all(checkers)
    const told = JSON.stringify([...codes])
    assert.ok((codes.get('ok') ?? 0) > 50, told)
    for (const code of ['ERR_LOST', 'ERR_CIRCUIT_OPEN', 'ERR_REFUSED', 'ERR_HOST_KEY'])
      assert.ok(codes.has(code), `${code} in ${told}`)
    // A dial and a failure each at most every 20 ms in the mean, however many are asked for.
    for (const { counts } of hosts) assert.ok(counts.connections < FLAP_MILLIS / 20, `${counts.connections} connections`)
    const { opened, closed } = pool.stats
    assert.equal(opened - closed, hosts.length - rotated.length)
  })
})
