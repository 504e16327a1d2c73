import assert from 'node:assert/strict'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { jumpOver, nameOf, TRANSPORTS } from '../pool/chain.ts'
import { makePool } from '../pool/world.ts'
import { startOrigin } from '../support/origin.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'

/** One request at an endpoint of ours. */
async function ask(at: { host: string; port: number }, path: string): Promise<string> {
  const socket = createConnection(at)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  return await text(socket)
}

for (const transport of TRANSPORTS)
  describe(`standing endpoints behind a jump (${transport})`, () => {
    it('keep their address when the bastion is restarted, and say which hop was down', async () => {
      await using bastion = await startSshd()
      await using inner = await startSshd()
      await using origin = await startOrigin()
      await using pool = makePool({ transport, backoffMinMillis: 20, backoffMaxMillis: 100 })
      const target = { ...inner.target, jumps: [jumpOver(bastion.target)] }
      const endpoint = await pool.listen(target, { to: { port: origin.port }, listen: 'tcp' }, { eager: true })
      const back = await pool.listen(target, { remote: { port: 0 }, to: { port: origin.port } })
      const hops = new Set<string | undefined>()
      endpoint.on('down', ({ cause }) => hops.add(cause?.hop))
      const { port } = endpoint.address
      for (let turn = 0; turn < 3; turn += 1) {
        await until(() => endpoint.state === 'up' && back.state === 'up', { within: 10_000 })
        for (const address of [endpoint.address, back.address]) assert.match(await ask(address, '/health'), /ok$/)
        assert.equal(endpoint.address.port, port)
        await bastion.stop('SIGKILL')
        await until(() => endpoint.state !== 'up')
        await bastion.start()
      }
      await until(() => endpoint.state === 'up', { within: 10_000 })
      assert.deepEqual([...hops], [nameOf(bastion.target)])
      await Promise.all([endpoint.close(), back.close()])
    })
  })
