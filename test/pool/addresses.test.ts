import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFleet } from '../../src/testing/index.ts'
import { resolver } from '../support/resolver.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { jumpOver, only } from './chain.ts'
import { makePool, rejection } from './world.ts'

/** Passes everything on to another port, and back. */
const passTo = (port: number) => (socket: Socket) => {
  const upstream = connect({ host: '127.0.0.1', port })
  socket.pipe(upstream).pipe(socket)
  socket.on('close', () => upstream.destroy())
  upstream.on('close', () => socket.destroy()).on('error', () => {})
}

describe('addresses', () => {
  let sshd: Sshd
  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())
  afterEach(() => resolver.restore())

  it('an IPv6 literal in any spelling is one host, and known by it; a zone is kept', async () => {
    await using six = await startTcpServer(passTo(sshd.port), { host: '::1' })
    const directory = mkdtempSync(join(tmpdir(), 'addresses-'))
    try {
      const knownHosts = join(directory, 'known_hosts')
      writeFileSync(knownHosts, `[::1]:${six.port} ${sshd.hostKeyLine}\n`)
      await using pool = makePool()
      const at = (host: string) => ({ ...sshd.target, host, port: six.port, hostKey: { knownHosts } })
      const leases = await Promise.all(['::1', '[::1]', '0:0:0:0:0:0:0:1'].map((host) => pool.acquire(at(host))))
      assert.equal(new Set(leases.map(({ generation }) => generation)).size, 1)
      assert.equal(pool.health(at('::1')).remoteAddress, `::1:${six.port}`)
      for (const lease of leases) lease.release()
      await using zoned = await pool.acquire({ ...at('::1%lo'), hostKeyAlias: `[::1]:${six.port}` })
      assert.match(zoned.destination, /@\[::1%lo\]:/)
      assert.equal((await zoned.exec('echo six')).stdout.toString(), 'six\n')
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  for (const addresses of [
    ['::1', '127.0.0.1'],
    ['127.0.0.1', '::1'],
  ] as const)
    for (const alive of ['::1', '127.0.0.1'])
      it(`a name with ${addresses.join(' and ')} of which ${alive} is alive`, async () => {
        await using relay = await startTcpServer(passTo(sshd.port), { host: alive })
        resolver.resolveTo('twofold.test', addresses)
        await using pool = makePool()
        const target = { ...sshd.target, host: 'twofold.test', port: relay.port }
        await using _lease = await pool.acquire(target)
        assert.equal(pool.health(target).remoteAddress, `${alive}:${relay.port}`)
      })

  it('a name is resolved at every dial: what it leads to then is what is reached', async () => {
    await using relay = await startTcpServer(passTo(sshd.port))
    await using other = await startTcpServer(passTo(sshd.port), { host: '127.0.0.2', port: relay.port })
    resolver.resolveTo('moving.test', ['127.0.0.1'])
    await using pool = makePool()
    const target = { ...sshd.target, host: 'moving.test', port: relay.port }
    const lease = await pool.acquire(target)
    resolver.resolveTo('moving.test', ['127.0.0.2'])
    assert.deepEqual([relay.open, other.open, resolver.asked.length], [1, 0, 1])
    for (const socket of relay.accepted) socket.destroy()
    await until(() => lease.signal.aborted)
    await using _again = await pool.acquire(target)
    assert.deepEqual([relay.open, other.open, resolver.asked.length], [0, 1, 2])
  })

  it('a name in another case is the same host; with a trailing dot it is what the resolver makes of it', async () => {
    for (const name of ['here.test', 'here.test.']) resolver.resolveTo(name, ['127.0.0.1'])
    await using pool = makePool()
    const [one, other, dotted] = await Promise.all(
      ['Here.Test', 'HERE.test', 'here.test.'].map((host) => pool.acquire({ ...sshd.target, host })),
    )
    assert.equal(one?.generation, other?.generation)
    assert.notEqual(dotted?.generation, one?.generation)
    assert.deepEqual(resolver.asked.toSorted(), ['here.test', 'here.test.'])
    for (const lease of [one, other, dotted]) lease?.release()
  })

  it('a name that is not ASCII is refused before anything is asked', async () => {
    await using pool = makePool()
    const error = await rejection(pool.acquire({ ...sshd.target, host: 'münchen.test' }), 'ERR_INVALID_OPTION')
    assert.match(error.message, /`host` to be a DNS name in ASCII/)
    assert.deepEqual(pool.resources(), [])
  })

  it('behind a jump, names and IPv6 literals are for the jump to make sense of', async () => {
    await using fleet = await startFleet()
    const host = only(fleet)
    await using six = await startTcpServer(passTo(host.target.port ?? 0), { host: '::1' })
    resolver.resolveTo('localhost', ['255.255.255.255'])
    await using pool = makePool()
    const jumps = [jumpOver(sshd.target)]
    for (const where of [{ host: '::1', port: six.port }, { host: 'localhost' }, { host: '127.0.0.1' }]) {
      await using lease = await pool.acquire({ ...host.target, ...where, jumps })
      assert.equal((await lease.exec('echo there')).stdout.toString(), 'there\n')
    }
    assert.deepEqual(resolver.asked, [])
    const error = await rejection(pool.acquire({ ...host.target, host: 'nowhere.invalid', jumps }), 'ERR_DNS')
    assert.deepEqual([error.phase, error.hop], ['connect', undefined])
  })
})
