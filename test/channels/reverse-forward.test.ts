import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeServer } from '../../src/testing/server.ts'
import { refusal, startPool } from '../support/pool.ts'
import { curl } from '../support/run.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { clientOf, ending, kept, knock, refusals, text } from './world.ts'

for (const transport of ['ssh2', 'openssh'] as const) {
  describe(`reverse forwards, on sshd, ${transport}`, () => {
    let sshd: Sshd
    let directory: string
    before(async () => {
      sshd = await startSshd()
      directory = mkdtempSync(join(tmpdir(), 'rv-'))
    })
    after(async () => {
      rmSync(directory, { recursive: true, force: true })
      await sshd.close()
    })
    afterEach(() => {
      for (const name of ['s', 't']) rmSync(join(directory, name), { force: true })
    })

    it('the server side reaches ours: any port that is read back, a port that is named, a unix socket; to TCP and unix', async () => {
      const web = createServer((asked, answer) => answer.end(`ours ${asked.url}`))
      const local = join(directory, 't')
      web.listen(local)
      await once(web, 'listening')
      await using tcp = await startTcpServer((socket) => socket.end('ours by TCP'))
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target, {
        forwards: {
          any: { remote: { port: 0 }, to: { socketPath: local } },
          unix: { remote: { socketPath: join(directory, 's') }, to: { port: tcp.port } },
        },
      })
      const { any, unix } = lease.forwards
      assert.equal(any.kind, 'reverse')
      assert.ok(any.address.port > 0)
      assert.equal(any.address.host, '127.0.0.1')
      assert.equal((await curl(`http://127.0.0.1:${any.address.port}/x`)).stdout, 'ours /x')
      assert.deepEqual(unix.address, { socketPath: join(directory, 's') })
      assert.equal(await text(clientOf(unix.address)), 'ours by TCP')
      await any.close()
      assert.equal(await knock(any.address), 'ECONNREFUSED')
      const named = await lease.forward({ remote: { port: any.address.port }, to: { port: tcp.port } })
      assert.deepEqual(named.address, any.address)
      assert.equal(await text(clientOf(named.address)), 'ours by TCP')
      await closeServer(web)
    })

    it('each end travels on its own, both ways, and nothing is lost', async () => {
      await using server = await startTcpServer(echo)
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      const { address } = await lease.forward({ remote: { port: 0 }, to: { port: server.port } })
      const client = clientOf(address)
      const sent = Buffer.alloc(3 * 1024 * 1024, 'warren ')
      client.end(sent)
      let received = 0
      client.on('data', (chunk: Buffer) => {
        received += chunk.length
      })
      assert.equal(await ending(client), 'end')
      assert.equal(received, sent.length)
      await until(() => kept(pool, 'channel').length === 0 && server.open === 0)
    })

    it('is shared by equal specs and goes with the last of them, on the server, too', async () => {
      await using server = await startTcpServer((socket) => socket.end('x'))
      await using pool = startPool({ transport })
      const spec = { remote: { port: 0 }, to: { port: server.port } }
      const [one, two] = await Promise.all([
        pool.acquire(sshd.target, { forwards: { a: spec } }),
        pool.acquire(sshd.target, { forwards: { b: spec } }),
      ])
      const { address } = one.forwards.a
      assert.deepEqual(two.forwards.b.address, address)
      one.release()
      assert.equal(await knock(address), 'open')
      two.release()
      await until(async () => (await knock(address)) === 'ECONNREFUSED')
      assert.equal(pool.stats.opened, 1)
    })

    it('a connection that has come in goes on after the forward is closed', async () => {
      await using server = await startTcpServer(echo)
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      const forward = await lease.forward({ remote: { port: 0 }, to: { port: server.port } })
      const client = clientOf(forward.address)
      client.write('before')
      assert.equal(String((await once(client, 'data'))[0]), 'before')
      await forward.close()
      client.write('after')
      assert.equal(String((await once(client, 'data'))[0]), 'after')
      client.destroy()
      await until(() => server.open === 0)
    })

    it('what is not there on our side fails for whoever came in, and is published', async () => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      const told = refusals(pool)
      const gone = await startTcpServer(echo)
      await gone[Symbol.asyncDispose]()
      const tcp = await lease.forward({ remote: { port: 0 }, to: { port: gone.port } })
      const unix = await lease.forward({ remote: { port: 0 }, to: { socketPath: join(directory, 'nobody') } })
      for (const { address } of [tcp, unix]) assert.notEqual(await text(clientOf(address)).catch(() => 'cut'), 'served')
      assert.deepEqual(
        told.map(({ error, to }) => [error.code, to]),
        [
          ['ERR_REFUSED', { host: '127.0.0.1', port: gone.port }],
          ['ERR_REFUSED', { socketPath: join(directory, 'nobody') }],
        ],
      )
      assert.deepEqual(kept(pool, 'channel'), [])
    })

    it('a port or path that somebody listens on is in use; one that may not be had is ERR_FORWARD_FAILED; neither costs more', async () => {
      await using server = await startTcpServer((socket) => socket.end())
      await using tight = await startSshd({ config: { PermitListen: 'none', AllowStreamLocalForwarding: 'no' } })
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      await using other = await pool.acquire(tight.target)
      const to = { port: server.port }
      await refusal(lease.forward({ remote: { port: server.port }, to }), 'ERR_ADDRESS_IN_USE', 'forward')
      const path = { socketPath: join(directory, 's') }
      const first = await lease.forward({ remote: path, to })
      await refusal(lease.forward({ remote: path, to: { port: 1 } }), 'ERR_ADDRESS_IN_USE', 'forward')
      assert.equal(await knock(first.address), 'open')
      await first.close()
      for (const remote of [{ port: 0 }, path])
        assert.match((await refusal(other.forward({ remote, to }), 'ERR_FORWARD_FAILED', 'forward')).message, /permit/)
      assert.equal(pool.stats.lost, 0)
      assert.equal(pool.stats.leases, 2)
    })

    it('B78: the socket that a dead connection has left is removed, a living one and a file are not; none is left by a close', async () => {
      await using server = await startTcpServer((socket) => socket.end('ours'))
      await using pool = startPool({ transport })
      const remote = { socketPath: join(directory, 's') }
      const spec = { remote, to: { port: server.port } }
      {
        const lease = await pool.acquire(sshd.target, { forwards: { a: spec } })
        sshd.killSessions()
        await until(() => lease.signal.aborted)
        // sshd leaves it: the next one finds it in its way.
        assert.ok(statSync(remote.socketPath).isSocket())
        await until(async () => (await knock(remote)) === 'ECONNREFUSED')
      }
      await using lease = await pool.acquire(sshd.target, { forwards: { a: spec } })
      assert.equal(await text(clientOf(remote)), 'ours')
      await lease.forwards.a.close()
      assert.equal(existsSync(remote.socketPath), false)
      writeFileSync(remote.socketPath, 'precious')
      await refusal(lease.forward(spec), 'ERR_FORWARD_FAILED')
      assert.ok(statSync(remote.socketPath).isFile())
    })

    it('ends with its connection: nothing of ours listens or stays', async () => {
      await using server = await startTcpServer(echo)
      await using pool = startPool({ transport })
      const lease = await pool.acquire(sshd.target)
      const forward = await lease.forward({ remote: { port: 0 }, to: { port: server.port } })
      const client = clientOf(forward.address)
      client.write('x')
      await once(client, 'data')
      sshd.killSessions()
      await until(() => lease.signal.aborted && server.open === 0)
      await forward.close()
      await until(async () => (await knock(forward.address)) === 'ECONNREFUSED')
      await until(() => kept(pool, 'socket').length + kept(pool, 'channel').length === 0)
      client.destroy()
    })

    it('holds a server to 512 connections at once', async () => {
      await using server = await startTcpServer(echo)
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      const told = refusals(pool)
      const { address } = await lease.forward({ remote: { port: 0 }, to: { port: server.port } })
      const clients: Socket[] = []
      // In batches: sshd's backlog is 128.
      while (clients.length < 512) {
        clients.push(...Array.from({ length: 64 }, () => clientOf(address)))
        await until(() => server.open === clients.length, { within: 5_000 })
      }
      assert.equal(told.length, 0)
      const late = clientOf(address)
      await ending(late)
      assert.deepEqual([told.map(({ error }) => error.code), server.open], [['ERR_LOCAL_LIMIT'], 512])
      for (const client of [...clients, late]) client.destroy()
      await until(() => server.open === 0, { within: 5_000 })
      assert.equal(pool.stats.lost, 0)
    })
  })
}
