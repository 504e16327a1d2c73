import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { connect } from 'node:net'
import type { PoolFacts } from '../../src/api/report.ts'
import { until } from '../support/until.ts'
import { FACTS, listen, makePool, named, RESTS_LONG, rejection, startHost } from './world.ts'

/** Runs a pool through all that it publishes in a normal life. */
async function live(pool: ReturnType<typeof makePool>, { host, target }: Awaited<ReturnType<typeof startHost>>): Promise<void> {
  const lease = await pool.acquire(target, { label: 'mine', forwards: { shut: { to: { port: 1 }, listen: 'tcp' } } })
  const client = connect(lease.forwards.shut.address.port, lease.forwards.shut.address.host).on('error', () => {})
  await new Promise((resolve) => client.once('close', resolve))
  host.sever()
  await until(() => pool.stats.lost === 1)
  await pool.use(target, () => {})
  await pool.retire(target, { force: true })
  host.refuse()
  await rejection(
    pool
      .acquire(target)
      .then((got) => got.release(new Error('the old one')))
      .then(() => until(() => pool.stats.tunnels.open === 0))
      .then(() => pool.acquire(target)),
    'ERR_REFUSED',
  )
  host.refuse(false)
  host.rotateHostKey()
  pool.reset(target)
  await rejection(pool.acquire(target), 'ERR_HOST_KEY')
}

const NORMAL = FACTS.filter((name) => !['tunnel.stuck', 'lease.abandoned', 'pool.swept'].includes(name))

describe('facts', () => {
  it('are told with their fields, to listeners, to the logger and on diagnostics channels alike', async () => {
    await using site = await startHost()
    const logged: Array<[level: string, name: string, fields: object | undefined]> = []
    const heard: Array<[name: string, fact: unknown]> = []
    const hear = (fact: unknown, name: string | symbol) => heard.push([String(name).replace('ssh-warren:', ''), fact])
    const channels = FACTS.map((name) => channel(`ssh-warren:${name}`))
    for (const topic of channels) topic.subscribe(hear)
    const pool = makePool({
      logger: { log: (level, name, fields) => logged.push([level, name, fields]) },
      ...RESTS_LONG,
    })
    const told = listen(pool)
    await live(pool, site)
    await pool.close()
    await Promise.resolve()
    for (const topic of channels) topic.unsubscribe(hear)

    assert.deepEqual(new Set(told.map(({ name }) => name)), new Set(NORMAL))
    assert.deepEqual(
      heard,
      told.map(({ name, fact }) => [name, fact]),
    )
    assert.deepEqual(
      logged.map(([, name, fields]) => [name, fields]),
      told.map(({ name, fact }) => [name, { ...fact }]),
    )
    const levels = Object.fromEntries(logged.map(([level, name]) => [name, level]))
    assert.deepEqual(levels, {
      'tunnel.opened': 'debug',
      'tunnel.lost': 'warn',
      'tunnel.failed': 'warn',
      'tunnel.closed': 'debug',
      'destination.resting': 'info',
      'destination.barred': 'error',
      'lease.acquired': 'debug',
      'lease.released': 'debug',
      'forward.refused': 'info',
    })

    const first = <Name extends keyof PoolFacts>(name: Name): PoolFacts[Name] => named(told, name)[0] ?? assert.fail(name)
    const { destination } = first('tunnel.opened')
    assert.match(destination, /^fleet@127\.0\.0\.1:\d+#1$/)
    const opened = first('tunnel.opened')
    assert.deepEqual(
      { ...opened, openMillis: 0, phases: {} },
      { destination, generation: 1, transport: 'ssh2', openMillis: 0, phases: {} },
    )
    assert.deepEqual(Object.keys(opened.phases), ['dns', 'connect', 'banner', 'kex', 'hostkey', 'auth'])
    const sum = Object.values(opened.phases).reduce((all, millis) => all + millis, 0)
    assert.ok(Object.values(opened.phases).every((millis) => millis >= 0) && sum <= opened.openMillis + 1)
    const { waitMillis, ...acquired } = first('lease.acquired')
    assert.deepEqual(acquired, { destination, generation: 1, lease: 'lease-1', label: 'mine' })
    assert.ok(waitMillis >= opened.openMillis - 5)
    const refused = first('forward.refused')
    assert.deepEqual(
      { ...refused, error: refused.error.code },
      { destination, generation: 1, to: { host: '127.0.0.1', port: 1 }, error: 'ERR_CHANNEL_REFUSED' },
    )
    const lost = first('tunnel.lost')
    assert.deepEqual({ ...lost, error: lost.error.code }, { destination, generation: 1, error: 'ERR_LOST', leases: 1 })
    const { heldMillis, fault, ...released } = first('lease.released')
    assert.deepEqual(released, { destination, generation: 1, lease: 'lease-1' })
    assert.ok(heldMillis > 0 && fault === lost.error)
    const [one, two] = named(told, 'tunnel.closed')
    assert.deepEqual({ ...one, closeMillis: 0 }, { destination, generation: 1, reason: 'lost', closeMillis: 0, forced: true })
    assert.deepEqual({ ...two, closeMillis: 0 }, { destination, generation: 2, reason: 'retired', closeMillis: 0, forced: false })
    const failed = first('tunnel.failed')
    assert.deepEqual(
      { ...failed, error: failed.error.code },
      { destination, generation: failed.generation, error: 'ERR_REFUSED' },
    )
    assert.equal(first('destination.resting').error, failed.error)
    assert.equal(first('destination.barred').error.code, 'ERR_HOST_KEY')
  })

  it('B51 are told to the others, too, when a listener, the logger or a subscriber throws or rejects', async () => {
    await using site = await startHost()
    const { emitWarning } = process
    const warnings: unknown[] = []
    process.emitWarning = ((text: string) => warnings.push(text)) as typeof emitWarning
    try {
      const fail = () => {
        throw new Error('of the listener')
      }
      const pool = makePool({ logger: { log: fail } })
      pool.on('tunnel.opened', fail)
      pool.on('tunnel.opened', () => Promise.reject(new Error('of an async listener')) as never)
      const told = listen(pool)
      await pool.use(site.target, () => {})
      await pool.close()
      assert.equal(named(told, 'tunnel.opened').length, 1)
      assert.equal(named(told, 'tunnel.closed').length, 1)
      assert.equal(warnings.length, 1)
      assert.match(String(warnings[0]), /of the listener/)
    } finally {
      process.emitWarning = emitWarning
    }
  })

  it('are told no more to whom `off` has named', async () => {
    await using site = await startHost()
    await using pool = makePool()
    let count = 0
    const listener = () => {
      count += 1
    }
    pool.on('lease.acquired', listener).on('lease.acquired', listener)
    await pool.use(site.target, () => {})
    pool
      .off('lease.acquired', listener)
      .off('lease.acquired', listener)
      .off('tunnel.lost', listener as never)
    const before = count
    await pool.use(site.target, () => {})
    await Promise.resolve()
    assert.equal(count, before)
    assert.ok(before >= 1)
  })

  it('tell of a loss under leases that were finishing', async () => {
    await using site = await startHost()
    const { host, target } = site
    await using pool = makePool({ drainTimeoutMillis: 5_000 })
    const told = listen(pool)
    const [faulty, other] = await Promise.all([pool.acquire(target), pool.acquire(target)])
    faulty.release(new Error('fault'))
    await until(() => pool.stats.tunnels.draining === 1)
    host.sever()
    await until(() => other.signal.aborted)
    await until(() => named(told, 'tunnel.closed').length === 1)
    assert.deepEqual(
      named(told, 'tunnel.lost').map(({ generation, leases }) => [generation, leases]),
      [[1, 1]],
    )
    assert.equal(pool.stats.lost, 1)
  })
})
