import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import type { Lease } from '../../src/api/lease.ts'
import { startOrigin } from '../support/origin.ts'
import { startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { echo, startTcpServer } from '../support/tcp-server.ts'
import { receive, send } from '../support/traffic.ts'
import { until } from '../support/until.ts'
import { clientOf, kept, rxQueue } from './world.ts'

const MIB = 1024 * 1024
const BYTES = 32 * MIB

const ways: Array<[how: string, open: (lease: Lease, port: number) => Promise<Duplex>]> = [
  ['connect', (lease, port) => lease.connect({ port })],
  ['a forward on a unix socket', async (lease, port) => clientOf((await lease.forward({ to: { port } })).address)],
  ['a forward on TCP', async (lease, port) => clientOf((await lease.forward({ to: { port }, listen: 'tcp' })).address)],
]

describe('bulk', () => {
  let sshd: Sshd
  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  for (const [how, open] of ways) {
    it(`32 MiB up and down through ${how}: every byte arrives`, async () => {
      await using server = await startTcpServer(echo)
      await using pool = startPool()
      await using lease = await pool.acquire(sshd.target)
      const stream = await open(lease, server.port)
      const [sent, received] = await Promise.all([send(stream, BYTES), receive(stream)])
      assert.deepEqual(received, sent)
      await until(() => kept(pool, 'channel').length === 0)
      await until(() => server.open === 0)
    })
  }

  it('above maxBufferedBytes the connection is not read, until there is room; nothing is lost, and keepalives do not mistake it', async () => {
    await using origin = await startOrigin()
    await using pool = startPool({ maxBufferedBytes: MIB, keepAliveIntervalMillis: 50, keepAliveCountMax: 1 })
    await using lease = await pool.acquire(sshd.target)
    const sockets = await Promise.all(Array.from({ length: 8 }, () => lease.connect({ port: origin.port })))
    for (const socket of sockets) {
      socket.pause()
      socket.write(`GET /bytes/${4 * MIB} HTTP/1.1\r\nhost: origin\r\nconnection: close\r\n\r\n`)
    }
    // What sshd has sent lies in the kernel.
    await until(() => rxQueue(sshd.port) > 64 * 1024)
    const stays = Date.now() + 300
    await until(() => {
      assert.ok(rxQueue(sshd.port) > 0, 'it was read')
      return Date.now() > stays
    })
    assert.equal(lease.signal.aborted, false)
    const receiving = Promise.all(sockets.map(receive))
    for (const socket of sockets) socket.resume()
    const received = await receiving
    for (const { bytes } of received) assert.ok(bytes > 4 * MIB)
    await until(() => kept(pool, 'channel').length === 0)
    assert.equal(pool.stats.opened, 1)
  })
})
