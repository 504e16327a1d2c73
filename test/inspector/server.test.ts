import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { ShownDestination, ShownDetail } from '../../src/observe/inspector/wire.ts'
import { makePool, RESTS_LONG, rejection, startHost } from '../pool/world.ts'
import { until } from '../support/until.ts'
import { buildPage, enter, follow, get, inspect } from './world.ts'

const rowsOf = (said: ReadonlyArray<[string, unknown]>) =>
  said.flatMap(([event, data]) => (event === 'rows' ? (data as ShownDestination[]) : []))

describe('the inspector server', () => {
  before(buildPage)

  it('lets in who has the token, and nobody else', async () => {
    const pool = makePool()
    await using inspector = await inspect(pool)
    const { origin, hash } = new URL(inspector.url)
    assert.match(inspector.url, /^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/)
    for (const path of ['/stream', '/destination?id=x']) assert.equal((await get(`${origin}${path}`)).status, 401)
    for (const authorization of ['', 'Bearer ', `Bearer ${hash.slice(1, -1)}x`, hash.slice(1)]) {
      const refused = await get(`${origin}/session`, { authorization })
      assert.deepEqual([refused.status, refused.headers['set-cookie']], [401, undefined])
    }
    const welcome = await get(`${origin}/session`, { authorization: `Bearer ${hash.slice(1)}` })
    assert.match(String(welcome.headers['set-cookie']), /^warren-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    assert.ok(!String(welcome.headers['set-cookie']).includes(hash.slice(1)))
    const { cookie } = await enter(inspector)
    assert.equal((await get(`${origin}/destination?id=x`, { cookie })).status, 200)
    assert.equal((await get(`${origin}/destination?id=x`, { cookie: `${cookie}x` })).status, 401)
  })

  it('refuses other hosts, other origins, other sites and other methods, whoever asks', async () => {
    const pool = makePool()
    await using inspector = await inspect(pool)
    const { base, cookie } = await enter(inspector)
    const { port, host } = new URL(base)
    const status = async (headers: Record<string, string>, method?: string) =>
      (await get(`${base}/destination?id=x`, { cookie, ...headers }, method)).status
    assert.equal(await status({ host: `rebound.example:${port}` }), 421)
    assert.equal(await status({ host: '127.0.0.1' }), 421)
    assert.equal(await status({ host: `10.0.0.1:${port}` }), 421)
    assert.equal(await status({ host: `localhost:${port}` }), 200)
    assert.equal(await status({ origin: 'http://evil.example' }), 403)
    assert.equal(await status({ origin: `https://${host}` }), 403)
    assert.equal(await status({ origin: base }), 200)
    assert.equal(await status({ 'sec-fetch-site': 'cross-site' }), 403)
    assert.equal(await status({ 'sec-fetch-site': 'same-site' }), 403)
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) assert.equal(await status({}, method), 405, method)
    assert.equal((await get(`${base}/../package.json`, { cookie })).status, 404)
  })

  it('serves a page that needs nothing from elsewhere, under a policy that allows nothing else', async () => {
    const pool = makePool()
    await using inspector = await inspect(pool)
    const { origin } = new URL(inspector.url)
    for (const path of ['/', '/page.js', '/page.css', '/charts.svg']) {
      const { status, headers, body } = await get(`${origin}${path}`)
      assert.equal(status, 200, path)
      assert.match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self'; style-src 'self'/)
      assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|\*/)
      assert.deepEqual([headers['x-content-type-options'], headers['cache-control']], ['nosniff', 'no-store'])
      assert.doesNotMatch(body.replaceAll('http://www.w3.org/', ''), /https?:\/\//, path)
    }
  })

  it('shows what is there and what changes, and keeps the past of a destination also while nobody looks', async () => {
    await using site = await startHost()
    const pool = makePool(RESTS_LONG)
    await using inspector = await inspect(pool)
    const { base, cookie } = await enter(inspector)
    const lease = await pool.acquire({ ...site.target, label: 'the host' }, { label: 'the holder' })
    const { said, close } = follow(base, cookie)
    await until(() => said.some(([event]) => event === 'ready'))
    const [row] = rowsOf(said)
    const { since: _, ...shown } = row ?? {}
    assert.deepEqual({ ...shown, tunnels: row?.tunnels.map(({ since: _, ...tunnel }) => tunnel) } as object, {
      id: lease.destination,
      label: 'the host',
      state: 'serving.steady',
      failures: 0,
      tunnels: [{ generation: 1, state: 'open.leased', leases: 1 }],
    })
    assert.ok(row !== undefined && row.since <= Date.now())
    const asked = async () =>
      JSON.parse((await get(`${base}/destination?id=${encodeURIComponent(lease.destination)}`, { cookie })).body) as ShownDetail
    const detail = await asked()
    assert.deepEqual(
      detail.leases.map(({ id, label }) => [id, label]),
      [[lease.id, 'the holder']],
    )
    assert.deepEqual(detail.resources.map(({ kind }) => kind).includes('socket'), true)
    assert.deepEqual(
      detail.facts.map(({ name }) => name),
      ['tunnel.opened'],
    )
    assert.deepEqual(Object.keys(detail.facts[0]?.phases ?? {}), ['dns', 'connect', 'banner', 'kex', 'hostkey', 'auth'])
    site.host.refuse()
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    await rejection(pool.acquire(site.target), 'ERR_REFUSED')
    await until(() => rowsOf(said).some(({ state, code }) => state.startsWith('resting') && code === 'ERR_REFUSED'))
    const after = await asked()
    assert.deepEqual(
      after.facts.map(({ name, code }) => [name, code]).filter(([name]) => name !== 'tunnel.closed'),
      [
        ['tunnel.opened', undefined],
        ['tunnel.lost', 'ERR_LOST'],
        ['tunnel.failed', 'ERR_REFUSED'],
        ['destination.resting', 'ERR_REFUSED'],
      ],
    )
    assert.ok(after.steps.some(({ of, from, to }) => of === 1 && from.startsWith('open.') && to.startsWith('draining')))
    await pool.close()
    await until(() => said.some(([event, data]) => event === 'gone' && (data as string[]).includes(lease.destination)))
    close()
  })

  it('costs the pool nothing more than rare facts while nobody looks', async () => {
    await using site = await startHost()
    const pool = makePool()
    let inspections = 0
    const inspected = pool.inspect.bind(pool)
    const ons: string[] = []
    const on = pool.on.bind(pool)
    pool.on = (event, listener) => {
      ons.push(event)
      return on(event, listener)
    }
    pool.inspect = (observer) => {
      inspections += 1
      const detach = inspected(observer)
      return () => {
        inspections -= 1
        detach()
      }
    }
    await using inspector = await inspect(pool)
    assert.deepEqual([inspections, ons.filter((event) => /lease\.(acquired|released)/.test(event))], [0, []])
    const { base, cookie } = await enter(inspector)
    const viewers = [follow(base, cookie), follow(base, cookie)]
    await until(() => viewers.every(({ said }) => said.length > 0))
    assert.equal(inspections, 1)
    viewers[0]?.close()
    await pool.use(site.target, () => {})
    assert.equal(inspections, 1)
    viewers[1]?.close()
    await until(() => inspections === 0)
  })

  it('bounds who looks: streams, and what one that does not read keeps', async () => {
    const pool = makePool()
    await using inspector = await inspect(pool)
    const { base, cookie } = await enter(inspector)
    const viewers = Array.from({ length: 16 }, () => follow(base, cookie))
    await until(() => viewers.every(({ said }) => said.length > 0))
    assert.equal((await get(`${base}/stream`, { cookie })).status, 503)
    viewers[0]?.close()
    viewers[0]?.close()
    const late: Array<ReturnType<typeof follow>> = []
    await until(() => {
      late.push(follow(base, cookie))
      return late.some((viewer) => viewer.said.length > 0)
    })
    for (const { close } of [...viewers, ...late]) close()
  })

  it('says what is wrong with its options, and that its port is taken', async () => {
    const pool = makePool()
    for (const [options, name] of [
      [{ host: '0.0.0.0' }, /allowRemote/],
      [{ host: 'example.com' }, /`host`/],
      [{ port: 70_000 }, /`port`/],
      [{ ports: 1 }, /`ports`/],
    ] as const) {
      const error = await rejection(inspect(pool, options as never), 'ERR_INVALID_OPTION')
      assert.match(error.message, name)
    }
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as { port: number }
    await rejection(inspect(pool, { port }), 'ERR_ADDRESS_IN_USE')
    other.close()
    await using open = await inspect(pool, { host: '0.0.0.0', allowRemote: true })
    const { port: at } = new URL(open.url)
    assert.equal((await get(`http://127.0.0.1:${at}/`, { host: `192.0.2.7:${at}` })).status, 200)
    assert.equal((await get(`http://127.0.0.1:${at}/`, { host: `rebound.example:${at}` })).status, 421)
  })
})
