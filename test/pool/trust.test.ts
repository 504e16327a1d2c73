import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Target } from '../../src/api/target.ts'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { TRANSPORTS } from './chain.ts'
import { makePool, RESTS_LONG, rejection } from './world.ts'

const connections = (sshd: Sshd) => sshd.log().match(/Connection from/g)?.length ?? 0

for (const transport of TRANSPORTS)
  describe(`trust, against sshd (${transport})`, () => {
    let sshd: Sshd
    let directory: string
    before(async () => {
      sshd = await startSshd()
      directory = mkdtempSync(join(tmpdir(), 'trust-'))
    })
    after(async () => {
      rmSync(directory, { recursive: true, force: true })
      await sshd.close()
    })
    const pinned = (...keys: string[]): Target => ({ ...sshd.target, transport, hostKey: { pinned: keys } })

    it('several pins carry a host over to its next key; without it the change is told with both, bars, and is not asked again until reset', async () => {
      const old = sshd.fingerprint
      await using pool = makePool()
      const strict = pinned(old)
      ;(await pool.acquire(strict)).release()
      await sshd.rotateHostKey()
      const both = pinned(old, sshd.hostKeyLine)
      ;(await pool.acquire(both)).release()
      // The change is noticed when the next generation is dialled; then the old one goes, too.
      const changed = await rejection(pool.acquire({ ...strict, keepAliveCountMax: 4 }), 'ERR_HOST_KEY')
      for (const fingerprint of [old, sshd.fingerprint]) assert.ok(changed.message.includes(fingerprint), changed.message)
      assert.equal(changed.phase, 'hostkey')
      const before = connections(sshd)
      for (let times = 0; times < 3; times += 1) {
        const refused = await rejection(
          pool.acquire({ ...strict, keepAliveCountMax: 4 }, { whenResting: 'wait' }),
          'ERR_CIRCUIT_OPEN',
        )
        assert.equal((refused.cause as { code?: string }).code, 'ERR_HOST_KEY')
      }
      assert.equal(connections(sshd), before)
      pool.reset({ ...strict, keepAliveCountMax: 4 })
      await rejection(pool.acquire({ ...strict, keepAliveCountMax: 4 }), 'ERR_HOST_KEY')
      assert.equal(connections(sshd), before + 1)
    })

    it('a changed key is noticed by the successor, and the old generation goes', async () => {
      await using pool = makePool({ drainTimeoutMillis: 10_000 })
      const target = pinned(sshd.fingerprint)
      const lease = await pool.acquire(target)
      await sshd.rotateHostKey()
      const retiring = pool.retire(target)
      await until(() => pool.health(target).state === 'barred')
      // Those who hold it may end.
      assert.equal((await lease.exec('echo still')).stdout.toString(), 'still\n')
      lease.release()
      await retiring
      assert.equal(pool.stats.tunnels.open, 0)
      assert.equal(pool.health(target).state, 'barred')
    })

    it('accept-new remembers the first key in the pool, for both transports', async () => {
      await using pool = makePool(RESTS_LONG)
      const target: Target = { ...sshd.target, transport, hostKey: 'accept-new' }
      ;(await pool.acquire(target)).release()
      const other = transport === 'ssh2' ? 'openssh' : 'ssh2'
      ;(await pool.acquire({ ...target, transport: other })).release()
      const first = sshd.fingerprint
      await sshd.rotateHostKey()
      for (const each of TRANSPORTS) {
        const error = await rejection(pool.acquire({ ...target, transport: each, keepAliveCountMax: 5 }), 'ERR_HOST_KEY')
        for (const fingerprint of [first, sshd.fingerprint]) assert.ok(error.message.includes(fingerprint), error.message)
      }
      // Another pool has never met it.
      await using stranger = makePool()
      ;(await stranger.acquire(target)).release()
    })

    it('accept-new in a file remembers for every pool that names it', async () => {
      const file = join(directory, 'accepted')
      const target: Target = { ...sshd.target, transport, hostKey: { acceptNew: file } }
      await using pool = makePool(RESTS_LONG)
      await using beside = makePool(RESTS_LONG)
      for (const lease of await Promise.all([pool.acquire(target), beside.acquire(target)])) lease.release()
      assert.equal(readFileSync(file, 'utf8').trim(), `[127.0.0.1]:${sshd.port} ${sshd.hostKeyLine}`)
      await sshd.rotateHostKey()
      await using later = makePool()
      await rejection(later.acquire(target), 'ERR_HOST_KEY')
      rmSync(file)
    })

    it('hostKeyAlias tells hosts apart that follow each other at one address', async () => {
      await using second = await startSshd()
      let live = sshd
      await using address = await startTcpServer((socket) => {
        const upstream = connect({ host: '127.0.0.1', port: live.port })
        socket.pipe(upstream).pipe(socket)
        socket.on('close', () => upstream.destroy()).on('error', () => {})
        upstream.on('close', () => socket.destroy()).on('error', () => {})
      })
      const at = (hostKeyAlias: string, { target }: Sshd): Target => ({
        ...target,
        transport,
        port: address.port,
        hostKeyAlias,
        hostKey: { acceptNew: join(directory, 'instances') },
      })
      await using pool = makePool(RESTS_LONG)
      ;(await pool.acquire(at('i-1', sshd))).release()
      live = second
      // The next instance at the same address is another name, and not a changed key.
      ;(await pool.acquire(at('i-2', second))).release()
      await using strict = makePool()
      const error = await rejection(strict.acquire(at('i-1', second)), 'ERR_HOST_KEY')
      assert.match(error.message, /i-1/)
      live = sshd
      ;(await strict.acquire({ ...at('i-1', sshd), keepAliveCountMax: 9 })).release()
      assert.deepEqual(
        readFileSync(join(directory, 'instances'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(' ')[0]),
        ['i-1', 'i-2'],
      )
    })

    it('a pin of a key that the host does not have is refused before anything is offered', async () => {
      await using pool = makePool()
      let asked = 0
      const load = async () => {
        asked += 1
        return { password: 'never asked for' }
      }
      const identity = { id: 'vault', load }
      await rejection(pool.acquire({ ...pinned(makeKeyPair().fingerprint), identity }), 'ERR_HOST_KEY')
      assert.equal(asked, 0)
    })
  })
