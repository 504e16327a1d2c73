import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { Target } from '../../src/api/target.ts'
import { until } from '../support/until.ts'
import { listen, makePool, RESTS_LONG, rejection, startHost } from './world.ts'

const PASSWORD = 'p4ssw0rd-m4rk3r'
const PASSPHRASE = 'p4ssphr4se-m4rk3r'
const LOADED = 'l04ded-m4rk3r'
const COMMAND = 'c0mm4nd-m4rk3r'
const INPUT = '1nput-m4rk3r'

const shown = (value: unknown): string[] => {
  const deep = inspect(value, { depth: Infinity, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null })
  let json = ''
  try {
    json = JSON.stringify(value) ?? ''
  } catch {
    // It refers to itself.
  }
  return [deep, json, value instanceof Error ? `${value.stack}` : '']
}

describe('secrets', () => {
  it('are in nothing that the pool tells, shows, logs, throws or keeps in sight', async () => {
    await using site = await startHost()
    const { host } = site
    const key = (site.target.identity as { key: string }).key
    const marker = key.split('\n')[3]?.slice(0, 40) ?? ''
    assert.ok(marker.length === 40)
    const target: Target = {
      ...site.target,
      identity: [
        { password: PASSWORD },
        { id: 'loader', load: async () => ({ password: LOADED }) },
        { key, passphrase: PASSPHRASE },
      ],
    }
    const seen: unknown[] = []
    const pool = makePool({
      traceLeases: true,
      logger: { log: (...given) => seen.push(given) },
      ...RESTS_LONG,
    })
    pool.inspect((event) => seen.push(event, (event.actorRef as { getSnapshot(): unknown }).getSnapshot()))
    const told = listen(pool)

    const lease = await pool.acquire(target, { forwards: { web: { to: { port: 80 } } } })
    const run = await lease.exec(`echo ${COMMAND}`, { input: INPUT })
    assert.match(run.stdout.toString(), new RegExp(COMMAND))
    seen.push(
      pool,
      lease,
      lease.forwards,
      lease.signal,
      pool.report(),
      pool.stats,
      pool.resources(),
      pool.health(target),
      host.counts,
    )
    const hanging = rejection(lease.exec(`sleep 60; echo ${COMMAND}`, { timeoutMillis: 30 }))
    seen.push(pool.report(), pool.resources(), await hanging)
    host.sever()
    await until(() => pool.stats.lost === 1)
    seen.push(lease.signal.reason)
    host.rejectAuth()
    seen.push(
      await rejection(pool.acquire(target), 'ERR_AUTH'),
      await rejection(pool.acquire(target), 'ERR_CIRCUIT_OPEN'),
      pool.health(target),
      await pool.probe(target),
    )
    for (const broken of [
      { ...target, identity: { key: `${key.slice(0, 200)}${PASSWORD}`, passphrase: PASSPHRASE } },
      { ...target, identity: { key: PASSWORD } },
      { ...target, identity: { password: PASSWORD, extra: PASSWORD } },
      { ...target, identity: PASSWORD },
    ])
      seen.push(await rejection(pool.acquire(broken as never)))
    await pool.destroy()
    seen.push(pool, lease, told)

    assert.ok(told.length > 5)
    const texts = seen.flatMap(shown)
    for (const secret of [PASSWORD, PASSPHRASE, LOADED, COMMAND, INPUT, marker]) {
      const leaks = texts.filter((text) => text.includes(secret))
      assert.deepEqual(leaks, [], `${secret} is in ${leaks.length} of ${texts.length}`)
    }
  })
})
