import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { census, startFleet } from '../../src/testing/index.ts'
import { startPool } from '../support/pool.ts'
import { until } from '../support/until.ts'
import { knock, listeners, text } from './world.ts'

const FORWARDS = 200

async function get(where: { socketPath: string } | { host: string; port: number }): Promise<string> {
  const asked = request({ ...where, path: '/health', headers: { connection: 'close' } }).end()
  return new Promise((resolve, reject) => asked.on('error', reject).on('response', (response) => resolve(text(response))))
}

async function listening(): Promise<readonly string[]> {
  return (await census()).listening
}

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

describe('where a local forward listens', () => {
  it('is a unix socket by default, 127.0.0.1 and any free port with tcp, or what is named; each leads to the remote', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    const directory = mkdtempSync(join(tmpdir(), 'fw-'))
    await using pool = startPool()
    const before = await listening()
    const to = host.http
    {
      await using lease = await pool.acquire(host.target, {
        forwards: {
          unix: { to },
          tcp: { to, listen: 'tcp' },
          path: { to, listen: { socketPath: join(directory, 's') } },
          v6: { to, listen: { host: '::1', port: 0 } },
          other: { to, listen: { host: '127.0.0.3', port: 0 } },
        },
      })
      const { unix, tcp, path, v6, other } = lease.forwards
      assert.equal(tcp.address.host, '127.0.0.1')
      assert.equal(path.address.socketPath, join(directory, 's'))
      assert.equal(v6.address.host, '::1')
      assert.equal(other.address.host, '127.0.0.3')
      for (const { kind, address } of [unix, tcp, path, v6, other]) {
        assert.equal(kind, 'local')
        assert.equal(await get(address), 'ok')
      }
      assert.deepEqual(
        (await listening()).filter((name) => !before.includes(name) && !name.endsWith('/o')).sort(),
        [
          `tcp 127.0.0.1:${tcp.address.port}`,
          `tcp 127.0.0.3:${other.address.port}`,
          `tcp [::1]:${v6.address.port}`,
          `unix ${path.address.socketPath}`,
          `unix ${unix.address.socketPath}`,
        ].sort(),
      )
    }
    await until(async () => (await listening()).filter((name) => !before.includes(name)).every((name) => name.endsWith('/o')))
    assert.deepEqual(readdirSync(directory), [])
    rmdirSync(directory)
  })

  it('B67: is open to nobody else, whatever the umask says', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    const directory = mkdtempSync(join(tmpdir(), 'fw-'))
    await using pool = startPool()
    const before = process.umask(0)
    try {
      const forwards = {
        ours: { to: host.http },
        named: { to: host.http, listen: { socketPath: join(directory, 's') } },
      } as const
      await using lease = await pool.acquire(host.target, { forwards })
      const { socketPath } = lease.forwards.ours.address
      assert.equal(modeOf(socketPath), '600')
      assert.equal(modeOf(dirname(socketPath)), '700')
      assert.equal(modeOf(dirname(dirname(socketPath))), '700')
      assert.equal(modeOf(lease.forwards.named.address.socketPath), '600')
    } finally {
      process.umask(before)
    }
    rmdirSync(directory)
  })

  it('leaves no name behind: a tunnel that opens and closes 200 of them has nothing in its directory', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using pool = startPool()
    await using lease = await pool.acquire(host.target, { forwards: { stays: { to: host.http } } })
    const stays = lease.forwards.stays.address.socketPath
    const seen = new Set<string>()
    for (let count = 0; count < FORWARDS; count += 1) {
      const forward = await lease.forward({ to: { port: 1 + count } })
      seen.add(forward.address.socketPath)
      await forward.close()
    }
    assert.equal(seen.size, FORWARDS)
    assert.deepEqual(readdirSync(dirname(stays)), ['1'])
    assert.equal(await knock({ socketPath: stays }), 'open')
    await until(() => listeners(pool).length === 1)
  })

  it('B30: is a port that the kernel chose and that is ours from then on, 200 at once', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    const forwards = await Promise.all(
      Array.from({ length: FORWARDS }, (_, count) => lease.forward({ to: { port: 1 + count }, listen: 'tcp' })),
    )
    const ports = forwards.map(({ address }) => address.port)
    assert.equal(new Set(ports).size, FORWARDS)
    const ours = await listening()
    for (const port of ports) assert.ok(ours.includes(`tcp 127.0.0.1:${port}`), `${port} is not ours`)
    await Promise.all(forwards.map((forward) => forward.close()))
    const then = await listening()
    for (const port of ports) assert.ok(!then.includes(`tcp 127.0.0.1:${port}`), `${port} is still listened on`)
  })
})
