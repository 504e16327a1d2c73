import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Lease } from '../../src/index.ts'
import { layGround } from '../support/ground.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'

/** All of a stream until its end, which it outlives: Node's own consumers would destroy it. */
function text(stream: Duplex): Promise<string> {
  return new Promise((resolve, reject) => {
    let all = ''
    stream.on('data', (bytes: Buffer) => {
      all += bytes
    })
    stream.once('end', () => resolve(all))
    stream.once('error', reject)
  })
}

/** A stream to a port behind the tunnel. */
type Reach = (lease: Lease, port: number) => Promise<Duplex>

const REACHES: ReadonlyArray<readonly [string, Reach]> = [
  ['connect', (lease, port) => lease.connect({ port })],
  [
    'a unix forward',
    async (lease, port) => connect({ path: (await lease.forward({ to: { port } })).address.socketPath, allowHalfOpen: true }),
  ],
  [
    'a TCP forward',
    async (lease, port) => connect({ ...(await lease.forward({ to: { port }, listen: 'tcp' })).address, allowHalfOpen: true }),
  ],
]

describe('a half-close', () => {
  const ground = layGround()

  const nothingLeft = () =>
    until(() => ground.pool.resources().every(({ kind, label }) => kind !== 'channel' && !label.startsWith('client')))

  for (const [what, reach] of REACHES) {
    it(`of ours through ${what} reaches a server that answers only then`, async () => {
      const stream = await reach(ground.lease, ground.origin.halfClosePort)
      stream.write('one ')
      stream.end('two')
      assert.equal(await text(stream), 'one two')
      await nothingLeft()
      await until(() => ground.origin.connections === 0)
    })

    it(`of the server's through ${what} reaches us, and we can still write`, async () => {
      const heard: string[] = []
      await using server = await startTcpServer((socket) => {
        socket.end('over')
        socket.on('data', (bytes) => heard.push(String(bytes)))
      })
      const stream = await reach(ground.lease, server.port)
      // Off, unless it is asked for, as it is for a socket of node:net.
      stream.allowHalfOpen = true
      assert.equal(await text(stream), 'over')
      stream.write('and you')
      await until(() => heard.join('') === 'and you')
      stream.end(' too')
      await until(() => heard.join('') === 'and you too')
      await until(() => server.open === 0)
      await nothingLeft()
    })

    it(`by both at once through ${what} loses nothing that was sent before`, async () => {
      const all = Buffer.alloc(3_000_000, 'x')
      let got = 0
      await using server = await startTcpServer((socket) => {
        socket.on('data', (bytes) => {
          got += bytes.length
        })
        socket.end(all)
      })
      const stream = await reach(ground.lease, server.port)
      stream.end(all)
      let received = 0
      stream.on('data', (bytes: Buffer) => {
        received += bytes.length
      })
      await once(stream, 'close')
      assert.equal(received, all.length)
      await until(() => got === all.length)
      await nothingLeft()
    })
  }
})
