import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { Standing } from '../../src/api/forward.ts'
import { closeServer } from '../../src/testing/server.ts'
import { knock, listeners } from '../channels/world.ts'
import { startPool } from '../support/pool.ts'
import { startRelay } from '../support/relay.ts'
import { curl } from '../support/run.ts'
import { startSshd } from '../support/sshd.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { say } from './world.ts'

const LOSSES = process.env.WARREN_LONG === '1' ? 50 : 3

for (const transport of ['ssh2', 'openssh'] as const) {
  describe(`B79 B85 forced losses with four forwards and a standing endpoint, ${transport}`, () => {
    it(`${LOSSES} of them: the same addresses, all answer, none twice, and nothing is left`, async function () {
      this.timeout(20_000 + LOSSES * 4_000)
      await using sshd = await startSshd()
      await using relay = await startRelay({ port: sshd.port })
      await using server = await startTcpServer(echo)
      await using web = await startTcpServer((socket) => {
        socket.once('data', (head: Buffer) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${String(head).split(/[ /]+/)[1]}`))
      })
      await using pool = startPool({ transport, backoffMinMillis: 10, backoffMaxMillis: 50, channelTimeoutMillis: 2_000 })
      const target = relay.through(sshd.target)
      const to = { port: server.port }
      const endpoints = {
        unix: await pool.listen(target, { to }),
        tcp: await pool.listen(target, { to, listen: 'tcp' }),
        socks: await pool.listen(target, { socks: true }),
        reverse: await pool.listen(target, { remote: { port: 0 }, to }),
        eager: await pool.listen(target, { to }, { eager: true }),
      }
      const addresses = JSON.stringify(Object.values(endpoints).map(({ address }) => address))
      const ways = [
        () => sshd.killSessions(),
        () => relay.reset(),
        () => relay.garbage(),
        async () => void (await pool.retire(target, { force: true })),
        () => sshd.killSessions('SIGTERM'),
        async () => void (await sshd.restart()),
      ]
      const answers = async (words: string): Promise<void> => {
        const { unix, tcp, reverse, eager, socks } = endpoints
        for (const standing of [unix, tcp, eager, reverse] as Standing[]) assert.equal(await say(standing.address, words), words)
        const asked = await curl(
          '--proxy',
          `socks5h://localhost${socks.address.socketPath}`,
          `http://127.0.0.1:${web.port}/${words}`,
        )
        assert.equal(asked.stdout, words, asked.stderr)
      }
      await answers('before')
      let largest = 0
      let thief: ReturnType<typeof createServer> | undefined
      for (let loss = 1; loss <= LOSSES; loss += 1) {
        const steals = loss === 2
        if (steals) {
          // Somebody takes the server's port in the gap.
          relay.refuse()
          relay.reset()
          await until(async () => (await knock(endpoints.reverse.address)) === 'ECONNREFUSED')
          thief = createServer((socket) => socket.destroy())
          const made = thief
          await until(
            () =>
              new Promise((resolve) => {
                made.once('error', () => resolve(false))
                made.listen(endpoints.reverse.address.port, '127.0.0.1', () => resolve(true))
              }),
            { within: 5_000 },
          )
          relay.refuse(false)
          await until(() => endpoints.reverse.cause?.code === 'ERR_ADDRESS_IN_USE', { within: 5_000 })
          assert.equal(endpoints.reverse.state, 'waiting')
          await until(() => endpoints.eager.state === 'up', { within: 5_000 })
          assert.equal(await say(endpoints.unix.address), 'hello')
          await closeServer(thief)
          thief = undefined
        } else {
          const before = pool.stats.opened
          await ways[loss % ways.length]?.()
          await until(() => pool.stats.opened > before, { within: 10_000 })
        }
        await until(() => endpoints.reverse.state === 'up' && endpoints.eager.state === 'up', {
          within: 10_000,
          what: `up after loss ${loss}`,
        })
        await answers(`after-${loss}`)
        largest = Math.max(largest, pool.resources().length)
      }
      assert.equal(JSON.stringify(Object.values(endpoints).map(({ address }) => address)), addresses)
      assert.equal(listeners(pool).filter((label) => !label.includes('agent')).length >= 4, true)
      assert.ok(largest < 40, `${largest} resources at once`)
      await Promise.all(Object.values(endpoints).map((standing) => standing.close()))
      await until(() => pool.stats.leases === 0 && server.open === 0)
      if (transport === 'ssh2') await until(() => listeners(pool).length === 0)
    })
  })
}
