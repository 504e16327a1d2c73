import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ending, knock } from '../channels/world.ts'
import { rejection } from '../pool/world.ts'
import { startPool } from '../support/pool.ts'
import { startRelay } from '../support/relay.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { echo, startTcpServer, type TcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { say, talking, told } from './world.ts'

for (const transport of ['ssh2', 'openssh'] as const) {
  describe(`a standing endpoint on the server, ${transport}`, () => {
    let sshd: Sshd
    let server: TcpServer
    let directory: string
    before(async () => {
      sshd = await startSshd()
      server = await startTcpServer(echo)
      directory = mkdtempSync(join(tmpdir(), 'rv-'))
    })
    after(async () => {
      rmSync(directory, { recursive: true, force: true })
      await Promise.all([sshd.close(), server[Symbol.asyncDispose]()])
    })
    const fast = { backoffMinMillis: 20, backoffMaxMillis: 100 }

    it('listens at once, and on the same port in every generation: after a loss, a restart, a retirement', async () => {
      await using pool = startPool({ transport, ...fast })
      const standing = await pool.listen(sshd.target, { remote: { port: 0 }, to: { port: server.port } })
      const words = told(standing)
      const { address } = standing
      assert.deepEqual([standing.kind, standing.state], ['reverse', 'up'])
      assert.equal(await say(address), 'hello')
      sshd.killSessions()
      await until(() => pool.stats.opened === 2 && standing.state === 'up', { within: 5_000 })
      assert.equal(await say(address), 'hello')
      await sshd.restart()
      await until(() => pool.stats.opened === 3 && standing.state === 'up', { within: 5_000 })
      assert.equal(await say(address), 'hello')
      assert.deepEqual(words.slice(0, 2), ['down ERR_LOST', 'up'])
      await standing.close()
      assert.equal(await knock(address), 'ECONNREFUSED')
      await until(() => pool.stats.leases === 0)
    })

    it('moves to the next tunnel when one retires; what came in before goes on through the old one until it ends', async () => {
      await using pool = startPool({ transport, ...fast })
      const standing = await pool.listen(sshd.target, { remote: { port: 0 }, to: { port: server.port } })
      const words = told(standing)
      const client = await talking(standing.address)
      const retired = pool.retire(sshd.target)
      await until(async () => pool.stats.opened === 2 && (await say(standing.address).catch(() => '')) === 'hello', {
        within: 5_000,
      })
      assert.deepEqual(
        pool.report().tunnels.map(({ state }) => state),
        ['draining', 'open'],
      )
      client.write('on')
      await until(() => client.bytesRead === 'xon'.length)
      client.end()
      assert.equal(await ending(client), 'end')
      await retired
      assert.deepEqual([words, pool.stats.lost], [[], 0])
    })

    it('makes way for the next tunnel where there is room for one only', async () => {
      await using pool = startPool({ transport, ...fast, maxTunnels: 1, drainTimeoutMillis: 60_000 })
      const standing = await pool.listen(sshd.target, { remote: { port: 0 }, to: { port: server.port } })
      const { address } = standing
      const words = told(standing)
      await pool.retire(sshd.target)
      await until(() => pool.stats.opened === 2 && standing.state === 'up', { within: 5_000 })
      assert.deepEqual([await say(address), standing.address, words], ['hello', address, ['down', 'up']])
    })

    it('B78: listens on a unix socket again where a dead connection has left one, and leaves none when it is closed', async () => {
      await using pool = startPool({ transport, ...fast })
      const remote = { socketPath: join(directory, 's') }
      const standing = await pool.listen(sshd.target, { remote, to: { port: server.port } })
      for (let generation = 2; generation < 5; generation += 1) {
        sshd.killSessions()
        await until(() => pool.stats.opened === generation && standing.state === 'up', { within: 5_000 })
        assert.equal(await say(remote), 'hello')
      }
      const retired = pool.retire(sshd.target)
      await retired
      await until(() => standing.state === 'up')
      await until(async () => (await say(remote).catch(() => '')) === 'hello')
      await standing.close()
      assert.equal(existsSync(remote.socketPath), false)
    })

    it('B78: waits with a cause while the server still listens for a connection that is lost only to us, and is up when it lets go', async () => {
      await using relay = await startRelay({ port: sshd.port })
      await using pool = startPool({ transport, ...fast, channelTimeoutMillis: 500 })
      const standing = await pool.listen(relay.through(sshd.target), { remote: { port: 0 }, to: { port: server.port } })
      const words = told(standing)
      const [old] = sshd.sessions()
      assert.ok(old !== undefined)
      // The server keeps its side.
      relay.swallowFin()
      relay.drop()
      await pool.probe(relay.through(sshd.target), { timeoutMillis: 100 })
      await until(() => standing.state === 'waiting', { within: 5_000 })
      relay.drop(false)
      await until(() => standing.cause?.code === 'ERR_ADDRESS_IN_USE', { within: 5_000 })
      assert.equal(standing.state, 'waiting')
      assert.ok(!words.includes('up'))
      process.kill(old, 'SIGKILL')
      await until(() => standing.state === 'up', { within: 5_000 })
      assert.equal(standing.cause, undefined)
      assert.equal(await say(standing.address), 'hello')
    })

    it('rejects with why it cannot be had the first time, and leaves nothing', async () => {
      await using pool = startPool({ transport, ...fast })
      const to = { port: server.port }
      await rejection(pool.listen(sshd.target, { remote: { port: server.port }, to }), 'ERR_ADDRESS_IN_USE')
      await rejection(pool.listen(sshd.target, { remote: { socketPath: join(directory, 'no', 's') }, to }), 'ERR_FORWARD_FAILED')
      await using relay = await startRelay({ port: sshd.port })
      relay.refuse()
      const down = relay.through(sshd.target)
      await using impatient = startPool({ transport, ...fast, acquireTimeoutMillis: 400 })
      const error = await rejection(impatient.listen(down, { remote: { port: 0 }, to }))
      assert.match(error.code, /ERR_ACQUIRE_TIMEOUT|ERR_CIRCUIT_OPEN/)
      assert.equal((error.cause as { code?: string }).code, 'ERR_REFUSED')
      const aborted = new AbortController()
      const listening = pool.listen(down, { remote: { port: 0 }, to }, { signal: aborted.signal })
      aborted.abort()
      await rejection(listening, 'ERR_ABORTED')
      await until(() => pool.stats.leases === 0 && pool.stats.waiting === 0)
    })
  })
}
