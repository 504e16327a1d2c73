import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Forwards, Listen } from '../../src/api/forward.ts'
import type { TunnelErrorCode } from '../../src/index.ts'
import { startFleet } from '../../src/testing/index.ts'
import { closeServer } from '../../src/testing/server.ts'
import { refusal, startPool } from '../support/pool.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { clientOf, ending, knock, listeners, refusals } from './world.ts'

const LONGEST = 107

describe('B48 an endpoint that cannot be listened on', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'fw-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const troubles: Array<[what: string, listen: () => Listen, code: TunnelErrorCode, words: RegExp]> = [
    ['a directory that is not there', () => ({ socketPath: join(directory, 'no', 's') }), 'ERR_FORWARD_FAILED', /does not exist/],
    ['an address that is not ours', () => ({ host: '192.0.2.1', port: 0 }), 'ERR_FORWARD_FAILED', /no such address/],
    [
      'a path that is too long',
      () => ({ socketPath: join(directory, 'x'.repeat(LONGEST - directory.length)) }),
      'ERR_PATH_TOO_LONG',
      /has 108 bytes, the limit is 107/,
    ],
    [
      'a path whose characters are few and whose bytes are many',
      () => ({ socketPath: join(directory, '€'.repeat(40)) }),
      'ERR_PATH_TOO_LONG',
      /the limit is 107/,
    ],
    [
      'a file that is no socket',
      () => {
        writeFileSync(join(directory, 'f'), 'precious')
        return { socketPath: join(directory, 'f') }
      },
      'ERR_ADDRESS_IN_USE',
      /no socket is in the way/,
    ],
    [
      'a symbolic link',
      () => {
        symlinkSync('/nowhere', join(directory, 'l'))
        return { socketPath: join(directory, 'l') }
      },
      'ERR_ADDRESS_IN_USE',
      /no socket is in the way/,
    ],
  ]
  for (const [what, listen, code, words] of troubles) {
    it(`${what} is ${code}, costs that call and nothing else`, async () => {
      await using fleet = await startFleet()
      const [host] = fleet.hosts
      assert.ok(host)
      await using pool = startPool()
      await using lease = await pool.acquire(host.target)
      const spec = { to: host.http, listen: listen() }
      const before = readdirSync(directory)
      assert.match((await refusal(lease.forward(spec), code)).message, words)
      const error = await refusal(pool.acquire(host.target, { forwards: { web: spec } as Forwards }), code)
      assert.match(error.message, /web/)
      assert.deepEqual(readdirSync(directory), before)
      assert.deepEqual(listeners(pool), [])
      assert.equal(pool.stats.leases, 1)
      const forward = await lease.forward({ to: host.http })
      assert.equal(await knock(forward.address), 'open')
      if (existsSync(join(directory, 'f'))) assert.equal(readFileSync(join(directory, 'f'), 'utf8'), 'precious')
    })
  }

  it('a directory that is read-only is ERR_FORWARD_FAILED', async () => {
    // Root may write anywhere but on a file system that is read-only.
    const readOnly = process.getuid?.() === 0 ? '/proc' : directory
    if (readOnly === directory) chmodSync(directory, 0o500)
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    await refusal(lease.forward({ to: host.http, listen: { socketPath: join(readOnly, 's') } }), 'ERR_FORWARD_FAILED', 'forward')
    chmodSync(directory, 0o700)
  })

  it('a path that is too long is refused before anything is dialled; one of 107 bytes is listened on in full', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using pool = startPool()
    const path = (bytes: number) => join(directory, 'x'.repeat(bytes - directory.length - 1))
    const long = { to: host.http, listen: { socketPath: path(LONGEST + 1) } }
    await refusal(pool.acquire(host.target, { forwards: { web: long } }), 'ERR_PATH_TOO_LONG')
    assert.equal(host.counts.connections, 0)
    assert.deepEqual(pool.resources(), [])
    const just = { to: host.http, listen: { socketPath: path(LONGEST) } }
    await using lease = await pool.acquire(host.target, { forwards: { web: just } })
    assert.deepEqual(readdirSync(directory), ['x'.repeat(LONGEST - directory.length - 1)])
    assert.equal(await knock(lease.forwards.web.address), 'open')
  })

  it('B08: a busy port rejects that acquire alone, names the forward, and takes back what it had made', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    await using busy = await startTcpServer(() => {})
    await using pool = startPool()
    const shared = { to: host.http, listen: 'tcp' } as const
    await using lease = await pool.acquire(host.target, { forwards: { shared } })
    const socketPath = join(directory, 's')
    const forwards = {
      first: { to: host.http, listen: { socketPath } },
      shared,
      second: { to: host.http, listen: { port: busy.port } },
      third: { to: host.http },
    } as const
    for (let round = 0; round < 3; round += 1) {
      const error = await refusal(pool.acquire(host.target, { forwards }), 'ERR_ADDRESS_IN_USE', 'forward')
      assert.match(error.message, /`second`/)
      assert.equal(existsSync(socketPath), false)
      assert.equal(pool.stats.leases, 1)
      await until(() => listeners(pool).length === 1)
    }
    assert.equal(await knock(lease.forwards.shared.address), 'open')
    assert.equal(busy.accepted.length, 0, 'our own probe must not reach whoever listens there')
    assert.equal(pool.stats.opened, 1)
    assert.equal(pool.stats.failed, 0)
  })

  it('a port that was busy can be had once it is free', async () => {
    await using fleet = await startFleet()
    const [host] = fleet.hosts
    assert.ok(host)
    const busy = createServer().listen(0, '127.0.0.1')
    await once(busy, 'listening')
    const address = busy.address()
    assert.ok(typeof address === 'object' && address !== null)
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    const spec = { to: host.http, listen: { port: address.port } }
    await refusal(lease.forward(spec), 'ERR_ADDRESS_IN_USE', 'forward')
    await closeServer(busy)
    const forward = await lease.forward(spec)
    assert.equal(await knock(forward.address), 'open')
  })
})

describe('B82 a forward whose target is dead', () => {
  for (const listen of ['tcp', 'unix'] as const) {
    it(`is told as forward.refused, and its client sees a failure (${listen})`, async () => {
      await using fleet = await startFleet()
      const [host] = fleet.hosts
      assert.ok(host)
      const to = { port: 1 }
      await using pool = startPool()
      const told = refusals(pool)
      await using lease = await pool.acquire(host.target, { forwards: { dead: { to, listen } } })
      const client = clientOf(lease.forwards.dead.address)
      client.write('anybody?')
      assert.equal(await ending(client), 'ECONNRESET')
      await until(() => told.length === 1)
      const [fact] = told
      assert.equal(fact?.destination, lease.destination)
      assert.equal(fact?.generation, lease.generation)
      assert.deepEqual({ ...fact?.to }, { host: '127.0.0.1', port: 1 })
      assert.equal(fact?.error.code, 'ERR_CHANNEL_REFUSED')
      assert.match(fact?.error.message ?? '', /Connection refused/)
      // The listener stays, and the connection: a target that is down is no tunnel that is down.
      assert.equal(await knock(lease.forwards.dead.address), 'open')
      assert.equal(pool.stats.lost + pool.stats.failed, 0)
      assert.equal(lease.signal.aborted, false)
    })
  }
})
