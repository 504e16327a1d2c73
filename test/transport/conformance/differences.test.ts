import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Target, TransportName } from '../../../src/index.ts'
import { startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { until } from '../../support/until.ts'
import { TRANSPORTS } from './world.ts'

const PAGE = new URL('../../../docs/transports.md', import.meta.url)

/** What a row of the page says of a transport is what is seen. */
interface Difference {
  /** The row's first cell. */
  readonly row: string
  see(transport: TransportName, sshd: Sshd): Promise<string>
  readonly expected: Readonly<Record<TransportName, string>>
}

/** What a dial comes to: `open`, or its code. */
async function outcome(transport: TransportName, target: Target): Promise<string> {
  await using pool = startPool({ transport })
  return await pool.acquire(target).then(
    (lease) => {
      lease.release()
      return 'open'
    },
    ({ code }) => code,
  )
}

const DIFFERENCES: readonly Difference[] = [
  {
    row: 'a password as identity',
    see: (transport, sshd) => outcome(transport, { ...sshd.target, identity: { password: 'x' } }),
    expected: { ssh2: 'ERR_AUTH', openssh: 'ERR_UNSUPPORTED' },
  },
  {
    row: '`connect`, a stream of your own',
    see: (transport, sshd) =>
      outcome(transport, { ...sshd.target, connect: async () => connect({ host: '127.0.0.1', port: sshd.port }) }),
    expected: { ssh2: 'open', openssh: 'ERR_UNSUPPORTED' },
  },
  {
    row: '`openssh`, options for ssh',
    see: (transport, sshd) => outcome(transport, { ...sshd.target, openssh: { options: { Compression: 'yes' } } }),
    expected: { ssh2: 'ERR_UNSUPPORTED', openssh: 'open' },
  },
  {
    row: 'what answers does not speak SSH',
    see: async (transport, sshd) => {
      await using server = await startTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      return await outcome(transport, { ...sshd.target, port: server.port })
    },
    expected: { ssh2: 'ERR_PROTOCOL', openssh: 'ERR_RESET' },
  },
  {
    row: '`health().remoteAddress`',
    see: async (transport, sshd) => {
      await using pool = startPool({ transport })
      await using _lease = await pool.acquire(sshd.target)
      return String(pool.health(sshd.target).remoteAddress !== undefined)
    },
    expected: { ssh2: 'true', openssh: 'false' },
  },
  {
    row: 'a reverse connection that nobody serves',
    see: async (transport, sshd) => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      const forward = await lease.forward({ remote: { port: 0 }, to: { port: 1 } })
      return await new Promise((resolve) => {
        const client = connect({ host: '127.0.0.1', port: forward.address.port })
        const over = (how: string) => {
          client.destroy()
          resolve(how)
        }
        client.on('error', ({ code }: NodeJS.ErrnoException) => over(code ?? 'error'))
        client.on('end', () => over('end'))
        client.write('x')
        client.resume()
      })
    },
    expected: { ssh2: 'ECONNRESET', openssh: 'end' },
  },
  {
    row: 'processes per tunnel',
    see: async (transport, sshd) => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      await lease.exec('true')
      return String(pool.resources().filter(({ kind }) => kind === 'child').length)
    },
    expected: { ssh2: '0', openssh: '1' },
  },
  {
    row: 'channels refused by the server',
    see: async (transport, sshd) => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      let generation = lease.generation
      for (let count = 0; count < 4_050; count += 50)
        await Promise.all(Array.from({ length: 50 }, () => refusal(lease.connect({ port: 1 }), 'ERR_CHANNEL_REFUSED')))
      await until(
        async () => {
          await using next = await pool.acquire(sshd.target)
          generation = next.generation
          return transport === 'ssh2' || generation !== lease.generation
        },
        { within: 5_000 },
      )
      return String(generation - lease.generation)
    },
    expected: { ssh2: '0', openssh: '1' },
  },
  {
    row: 'a server of chacha20-poly1305 alone',
    see: async (transport) => {
      await using host = await startHostile({
        config: { algorithms: { cipher: ['chacha20-poly1305@openssh.com'] } } as never,
      })
      return await outcome(transport, host.target)
    },
    expected: { ssh2: 'open', openssh: 'ERR_KEX' },
  },
]

describe('what differs between the transports', () => {
  let sshd: Sshd
  before(async () => {
    sshd = await startSshd()
  })
  after(() => sshd.close())

  it('is a row of docs/transports.md, and each row is a test', () => {
    const table = readFileSync(PAGE, 'utf8').split('## What differs')[1] ?? ''
    const rows = [...table.matchAll(/^\| (?!\||-)(.+?) \|/gm)].map(([, first]) => first)
    assert.deepEqual(
      rows,
      DIFFERENCES.map(({ row }) => row),
    )
  })

  for (const { row, see, expected } of DIFFERENCES) {
    it(row, async () => {
      const seen: Partial<Record<TransportName, string>> = {}
      for (const transport of TRANSPORTS) seen[transport] = await see(transport, sshd)
      assert.deepEqual(seen, expected)
    }).timeout(60_000)
  }
})
