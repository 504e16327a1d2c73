import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TcpAddress, UnixAddress } from '../../src/api/forward.ts'
import { clientOf, kept } from '../channels/world.ts'
import { startPool } from '../support/pool.ts'
import { startSshd } from '../support/sshd.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { receive, send } from '../support/traffic.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const isLong = process.env.WARREN_LONG === '1'
/** OpenSSH's own key exchange takes some 30 ms of CPU on each side. */
const BYTES = { ssh2: (isLong ? 64 : 4) * MIB, openssh: (isLong ? 64 : 1) * MIB }

/** A client that a SOCKS endpoint has let through to a port of the server's own. */
async function through(address: UnixAddress | TcpAddress, port: number): Promise<Socket> {
  const client = clientOf(address)
  client.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]))
  for (let heard = 0; heard < 12; ) {
    const chunk: Buffer | null = client.read()
    if (chunk === null) await once(client, 'readable')
    else heard += chunk.length
  }
  return client
}

for (const transport of ['ssh2', 'openssh'] as const) {
  describe(`bulk while the server rekeys every 256 KiB, ${transport}`, () => {
    it(`${BYTES[transport] / MIB} MiB each way through a standing endpoint, a reverse and a dynamic one, at once: every byte arrives`, async () => {
      await using server = await startTcpServer(echo)
      await using sshd = await startSshd({
        config: { RekeyLimit: '256K', LogLevel: 'DEBUG1', KexAlgorithms: 'curve25519-sha256' },
      })
      await using pool = startPool({ transport, keepAliveIntervalMillis: 5_000 })
      const to = { port: server.port }
      const local = await pool.listen(sshd.target, { to })
      const reverse = await pool.listen(sshd.target, { remote: { port: 0 }, to })
      const dynamic = await pool.listen(sshd.target, { socks: true })
      const clients = [clientOf(local.address), clientOf(reverse.address), await through(dynamic.address, server.port)]
      const [sent, received] = await Promise.all([
        Promise.all(clients.map((client) => send(client, BYTES[transport]))),
        Promise.all(clients.map((client) => receive(client))),
      ])
      assert.deepEqual(received, sent)
      assert.deepEqual([pool.stats.opened, pool.stats.lost], [1, 0])
      assert.ok((sshd.log().match(/rekey/gi)?.length ?? 0) > 10, 'the server did not rekey')
      await until(() => server.open === 0 && kept(pool, 'channel').filter((label) => label.includes('127.0.0.1')).length === 0)
    }).timeout(isLong ? 600_000 : 20_000)
  })
}
