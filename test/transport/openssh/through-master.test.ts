import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { AcceptConnection, Connection, ServerChannel, TcpipRequestInfo } from 'ssh2'
import { census } from '../../../src/testing/index.ts'
import { startHostile } from '../../support/hostile.ts'
import { startPool } from '../../support/pool.ts'
import { startSshd } from '../../support/sshd.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { until } from '../../support/until.ts'

const MIB = 1024 * 1024

/** Pid of the one ssh child. */
async function pidOfSsh(): Promise<number> {
  const { children } = await census()
  return Number(children.find((line) => / ssh$/.test(line))?.split(' ')[0])
}
const residentKib = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)

/** The other half of ssh2's channel, whose windows are what it believes. */
interface Inside {
  incoming: { window: number }
  outgoing: { id: number; window: number }
}

describe('openssh: through a real ssh, a server that', () => {
  it('sends past its window is ERR_PROTOCOL, and the tunnel ends', async () => {
    await using host = await startHostile({
      serve: (connection: Connection) =>
        connection.on('tcpip', (accept: AcceptConnection<ServerChannel>, _reject: () => void, _info: TcpipRequestInfo) => {
          const channel = accept()
          const inside = channel as unknown as Inside
          channel.on('error', () => {})
          const flood = (): void => {
            inside.outgoing.window = 2 ** 31
            for (let sent = 0; sent < 6 * MIB; sent += 32 * 1024) channel.write(Buffer.alloc(32 * 1024))
          }
          flood()
        }),
    })
    await using pool = startPool({ transport: 'openssh' })
    const lease = await pool.acquire(host.target)
    const socket = await lease.connect({ port: 1 })
    const [error] = await once(socket, 'error')
    assert.equal(error.code, 'ERR_PROTOCOL')
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_PROTOCOL')
    lease.release()
    await until(() => pool.report().tunnels.length === 0)
  })

  it('opens its window wide and reads nothing fills neither this process nor ssh', async () => {
    let held: { pause(): void; resume(): void } | undefined
    await using host = await startHostile({
      serve: (connection: Connection) =>
        connection.on('tcpip', (accept: AcceptConnection<ServerChannel>) => {
          const channel = accept()
          const { incoming } = channel as unknown as Inside
          incoming.window = 2 ** 31 - 1
          const inside = channel as unknown as {
            _client: { _protocol: { channelWindowAdjust(id: number, bytes: number): void }; _sock: typeof held }
          }
          inside._client._protocol.channelWindowAdjust((channel as unknown as Inside).outgoing.id, 2 ** 31 - 2 ** 22)
          held = inside._client._sock
          setImmediate(() => held?.pause())
        }),
    })
    await using pool = startPool({ transport: 'openssh' })
    const lease = await pool.acquire({ ...host.target, keepAliveIntervalMillis: 0 })
    const socket = await lease.connect({ port: 1 })
    socket.on('error', () => {})
    const pid = await pidOfSsh()
    const before = residentKib(pid)
    let written = 0
    const write = (error?: Error | null): void => {
      if (error || written > 256 * MIB) return
      written += MIB
      socket.write(Buffer.alloc(MIB), write)
    }
    write()
    let last = -1
    let looks = 0
    await until(
      () => {
        looks = written === last ? looks + 1 : 0
        last = written
        return looks > 500
      },
      { within: 10_000, what: 'nothing more is taken' },
    )
    assert.ok(written < 20 * MIB, `${written} bytes written`)
    assert.ok(residentKib(pid) - before < 64 * 1024, `${residentKib(pid) - before} KiB more in ssh`)
    held?.resume()
    lease.release()
    await pool.destroy()
  })
})

describe('openssh: what came in at the server', () => {
  for (const [how, end] of [
    ['ssh is killed', async () => process.kill(await pidOfSsh(), 'SIGKILL')],
    ['ssh is asked to end', async () => process.kill(await pidOfSsh(), 'SIGTERM')],
  ] as const) {
    it(`is cut when ${how}, and does not end as if all had been read`, async () => {
      await using sshd = await startSshd()
      const ends: string[] = []
      await using server = await startTcpServer((socket) => {
        socket.on('end', () => ends.push('end')).on('error', ({ code }: NodeJS.ErrnoException) => ends.push(code ?? 'error'))
        socket.resume()
      })
      await using pool = startPool({ transport: 'openssh' })
      const lease = await pool.acquire(sshd.target)
      const forward = await lease.forward({ remote: { port: 0 }, to: { port: server.port } })
      const clients = Array.from({ length: 20 }, () => {
        const client = connect({ host: '127.0.0.1', port: forward.address.port }).on('error', () => {})
        client.write('x')
        return client
      })
      await until(() => server.accepted.filter(({ bytesRead }) => bytesRead === 1).length === 20)
      await end()
      await until(() => ends.length === 20)
      assert.deepEqual([...new Set(ends)], ['ECONNRESET'])
      for (const client of clients) client.destroy()
      lease.release()
    })
  }
})

describe('openssh: a server that grants no session', () => {
  it('is asked without end, and ssh stays as small as it is', async () => {
    await using sshd = await startSshd({ config: { MaxSessions: '0' } })
    await using pool = startPool({ transport: 'openssh' })
    const lease = await pool.acquire(sshd.target)
    for (let count = 0; count < 200; count += 1) await pool.probe(sshd.target)
    const pid = await pidOfSsh()
    const before = residentKib(pid)
    for (let count = 0; count < 2_000; count += 1) assert.equal((await pool.probe(sshd.target)).state, 'serving')
    assert.ok(residentKib(pid) - before < 1_024, `${residentKib(pid) - before} KiB more`)
    assert.equal(lease.signal.aborted, false)
    lease.release()
  })
})
