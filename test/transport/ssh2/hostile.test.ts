import assert from 'node:assert/strict'
import type { AcceptConnection, Connection, ServerChannel } from 'ssh2'
import type { Lease, TunnelSocket } from '../../../src/index.ts'
import { startFleet } from '../../../src/testing/index.ts'
import { type HostileOptions, insidesOf, sendRaw, startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startRelay } from '../../support/relay.ts'
import { until } from '../../support/until.ts'

/** RFC 4250, section 4.1.2. */
const USERAUTH_BANNER = 53
const GLOBAL_REQUEST = 80
const CHANNEL_OPEN = 90
const CHANNEL_OPEN_CONFIRMATION = 91
const CHANNEL_DATA = 94
const CHANNEL_EXTENDED_DATA = 95
const CHANNEL_EOF = 96
const CHANNEL_REQUEST = 98
const MIB = 1024 * 1024

/** One connection that a server attacks. */
interface Attack {
  readonly connection: Connection
  readonly lease: Lease
  /** A channel that the client opened, by the number it has for it. */
  readonly channel: number
  readonly socket: TunnelSocket
}

/** Lets a server attack while another host of the same pool is in use: the attacked connection ends with this code, the other does not notice. */
async function endsOnly(code: string, attack: (attack: Attack) => void | Promise<void>): Promise<Error> {
  await using fleet = await startFleet()
  const [bystander] = fleet.hosts
  assert.ok(bystander)
  let channel = 0
  const serve: HostileOptions['serve'] = (connection) =>
    connection.on('tcpip', (accept: AcceptConnection<ServerChannel>) => {
      const { outgoing } = accept() as unknown as { outgoing: { id: number } }
      channel = outgoing.id
    })
  await using host = await startHostile({ serve })
  await using pool = startPool()
  await using other = await pool.acquire(bystander.target)
  await using lease = await pool.acquire(host.target)
  const socket = await lease.connect({ port: 1 })
  const [connection] = host.connections
  assert.ok(connection)
  await attack({ connection, lease, channel, socket })
  await until(() => lease.signal.aborted)
  const error = lease.signal.reason
  assert.equal(error.code, code, error.stack)
  await until(() => host.open === 0)
  await until(() => socket.destroyed)
  assert.equal(other.signal.aborted, false)
  const still = await other.connect(bystander.http)
  still.destroy()
  return error
}

describe('ssh2: a hostile server', () => {
  for (const [what, type, head] of [
    ['data', CHANNEL_DATA, []],
    ['error output', CHANNEL_EXTENDED_DATA, [1]],
  ] as const) {
    it(`that ignores the window of an unread channel with its ${what} is cut off before it fills the memory`, async () => {
      const before = process.memoryUsage().rss
      let sent = 0
      const error = await endsOnly('ERR_PROTOCOL', async ({ connection, channel, lease }) => {
        const block = Buffer.alloc(32 * 1024)
        while (sent < 64 * MIB && !lease.signal.aborted) {
          sendRaw(connection, type, channel, ...head, block)
          sent += block.length
          if (sent % MIB === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      })
      assert.match(error.message, /window/)
      assert.ok(sent > 2 * MIB, `cut off after ${sent} bytes`)
      assert.ok(process.memoryUsage().rss - before < 160 * MIB)
    })
  }

  for (const [type, ...rest] of [
    ['forwarded-tcpip', '127.0.0.1', 80, '127.0.0.1', 1234],
    ['forwarded-streamlocal@openssh.com', '/tmp/x', ''],
    ['x11', '127.0.0.1', 6000],
    ['auth-agent@openssh.com'],
    ['session'],
  ] as const) {
    it(`that opens a ${type} channel nobody asked for is cut off`, async () => {
      const error = await endsOnly('ERR_PROTOCOL', ({ connection }) =>
        sendRaw(connection, CHANNEL_OPEN, type, 7, 2 * MIB, 32 * 1024, ...rest),
      )
      assert.ok(error.message.includes(type))
    })
  }

  for (const [what, type, head] of [
    ['data', CHANNEL_DATA, []],
    ['error output', CHANNEL_EXTENDED_DATA, [1]],
  ] as const) {
    it(`that sends ${what} after the end of data is cut off, and ends no process by it`, async () => {
      const error = await endsOnly('ERR_PROTOCOL', ({ connection, channel }) => {
        sendRaw(connection, CHANNEL_EOF, channel)
        sendRaw(connection, type, channel, ...head, 'one more thing')
      })
      assert.match(error.message, /after the end/)
    })
  }

  it('that opens a channel for packets of no bytes is cut off before anything is cut into such', async () => {
    await using host = await startHostile({
      serve: (connection, insides) => {
        insides._handlers.CHANNEL_OPEN = ((_protocol: unknown, { sender }: { sender: number }) =>
          sendRaw(connection, CHANNEL_OPEN_CONFIRMATION, sender, 0, 2 * MIB, 0)) as never
      },
    })
    await using pool = startPool({ channelTimeoutMillis: 1_000 })
    await using lease = await pool.acquire(host.target)
    const socket = lease.socket({ port: 80 })
    socket.write('anything')
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_PROTOCOL')
  })

  it('that opens its windows wide and reads nothing is sent no more than the connection takes', async () => {
    await using host = await startHostile({
      serve: (connection, insides) => {
        insides._handlers.CHANNEL_OPEN = ((_protocol: unknown, { sender }: { sender: number }) =>
          sendRaw(connection, CHANNEL_OPEN_CONFIRMATION, sender, 0, 2 ** 32 - 1, 32 * 1024)) as never
      },
    })
    await using relay = await startRelay(host)
    await using pool = startPool({ keepAliveIntervalMillis: 0 })
    await using lease = await pool.acquire(relay.through(host.target))
    const socket = await lease.connect({ port: 80 })
    relay.freeze()
    let taken = 0
    const block = Buffer.alloc(256 * 1024)
    const isTaken = () => new Promise<boolean>((resolve) => socket.write(block, (error) => resolve(!error)))
    const writing = (async () => {
      while (await isTaken()) taken += block.length
    })()
    let last = -1
    await until(
      async () => {
        const isStill = taken === last
        last = taken
        for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        return isStill
      },
      { within: 5_000 },
    )
    assert.ok(taken < 32 * MIB, `${taken} bytes were taken`)
    socket.destroy()
    await writing
  })

  it('cannot fill the pool with bytes that nobody is given', async () => {
    const serve: HostileOptions['serve'] = (connection) =>
      connection.on('tcpip', (accept: AcceptConnection<ServerChannel>) => {
        const { outgoing } = accept() as unknown as { outgoing: { id: number } }
        // Of kinds of error output there is one; what is sent as another is dropped.
        for (let sent = 0; sent < 2 * MIB; sent += 32 * 1024)
          sendRaw(connection, CHANNEL_EXTENDED_DATA, outgoing.id, 2, Buffer.alloc(32 * 1024))
        sendRaw(connection, CHANNEL_DATA, outgoing.id, 'done')
      })
    await using fleet = await startFleet()
    const [bystander] = fleet.hosts
    assert.ok(bystander)
    await using host = await startHostile({ serve })
    await using pool = startPool({ maxBufferedBytes: MIB })
    await using lease = await pool.acquire(host.target)
    await using other = await pool.acquire(bystander.target)
    const socket = await lease.connect({ port: 1 })
    await until(() => socket.readableLength === 4)
    const result = await other.exec('head -c 1000000 /dev/zero')
    assert.equal(result.stdout.length, 1_000_000)
  })

  it('that sends more than 100 requests a second is cut off', async () => {
    await endsOnly('ERR_PROTOCOL', ({ connection }) => {
      for (let count = 0; count < 202; count += 1) sendRaw(connection, GLOBAL_REQUEST, 'keepalive@openssh.com', true)
    })
  })

  it('that sends more than 100 requests a second on a channel is cut off', async () => {
    await endsOnly('ERR_PROTOCOL', ({ connection, channel }) => {
      for (let count = 0; count < 202; count += 1) sendRaw(connection, CHANNEL_REQUEST, channel, 'keepalive@openssh.com', true)
    })
  })

  it('that asks whether we are there now and then is answered', async () => {
    await using host = await startHostile()
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    const [connection] = host.connections
    assert.ok(connection)
    let answers = 0
    insidesOf(connection)._handlers.REQUEST_FAILURE = () => {
      answers += 1
    }
    for (let count = 0; count < 40; count += 1) sendRaw(connection, GLOBAL_REQUEST, 'keepalive@openssh.com', true)
    await until(() => answers === 40)
    assert.equal(lease.signal.aborted, false)
  })

  it('that sends more than 16 banners before login is ERR_PROTOCOL, and 16 are none of its business', async () => {
    await using loud = await startHostile({ authenticate: (_context, connection) => banners(connection, 17) })
    await using fine = await startHostile({
      authenticate: (context, connection) => {
        if (context.method === 'publickey' && context.signature !== undefined) banners(connection, 15)
        context.accept()
      },
    })
    await using pool = startPool()
    await refusal(pool.acquire(loud.target), 'ERR_PROTOCOL', 'auth')
    await using _lease = await pool.acquire(fine.target)
  })

  it('that asks for a password without end is ERR_PROTOCOL', async () => {
    await using host = await startHostile({
      authenticate: (context) => {
        if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive'])
        const again = (): void => void context.prompt([], again)
        return again()
      },
    })
    await using pool = startPool()
    await refusal(pool.acquire({ ...host.target, identity: { password: 'x' } }), 'ERR_PROTOCOL', 'auth')
  })
})

function banners(connection: Connection, count: number): void {
  for (let sent = 0; sent < count; sent += 1) sendRaw(connection, USERAUTH_BANNER, 'welcome\r\n', '')
}
