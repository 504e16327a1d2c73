import assert from 'node:assert/strict'
import { fetch } from 'undici'
import { dispatcherFor } from '../../src/http/undici.ts'
import { createHealthMonitor } from '../../src/index.ts'
import { startOrigin } from '../support/origin.ts'
import { refusal, startPool } from '../support/pool.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { ask } from './world.ts'

describe('agents, dispatchers and monitors on transport openssh', () => {
  it('are the same: kept sockets without a lease, retired without a failure, errors by their reason', async () => {
    await using sshd = await startSshd()
    await using origin = await startOrigin()
    await using pool = startPool({ transport: 'openssh' })
    const to = { port: origin.port }
    const agent = pool.agentFor(sshd.target, to)
    for (const reused of [false, true, true])
      assert.deepEqual(await ask(agent, { path: '/health' }), { status: 200, text: 'ok', reused })
    assert.equal(pool.stats.leases, 0)
    await Promise.all([pool.retire(sshd.target), ask(agent, { path: '/bytes/100000' })])
    assert.equal((await ask(agent, { path: '/health' })).text, 'ok')
    assert.equal(pool.stats.opened, 2)
    await refusal(ask(pool.agentFor(sshd.target, { port: 1 }), {}), 'ERR_CHANNEL_REFUSED')
    const dispatcher = dispatcherFor(pool, sshd.target, to)
    assert.equal(await (await fetch('http://gpu-7/health', { dispatcher })).text(), 'ok')
    await using monitor = createHealthMonitor(pool, {
      checks: [{ id: 'a', target: sshd.target, to, path: '/health', intervalMillis: 20, timeoutMillis: 5_000 }],
    })
    await until(() => monitor.stats.healthy === 1)
    await monitor.stop()
    await dispatcher.destroy()
    await until(() => pool.stats.leases === 0)
  })
})
