import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Lease, TunnelError } from '../../src/index.ts'
import { Door } from '../../src/testing/door.ts'
import { layGround } from '../support/ground.ts'
import { startOrigin } from '../support/origin.ts'
import { refusal, startPool } from '../support/pool.ts'
import { startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'

describe('connect, through a real sshd', () => {
  const ground = layGround({ ipv6: true, unix: true })

  const noChannelLeft = () => until(() => ground.pool.resources().every(({ kind }) => kind !== 'channel'))

  async function health(to: Parameters<Lease['connect']>[0]): Promise<string> {
    const socket = await ground.lease.connect(to)
    const request = get({ path: '/health', agent: undefined, createConnection: () => socket as never })
    const [response] = await once(request, 'response')
    const answer = await text(response)
    socket.destroy()
    return answer
  }

  for (const [what, to] of [
    ['a port of 127.0.0.1', () => ({ port: ground.origin.port })],
    ['a host by name', () => ({ host: 'localhost', port: ground.origin.port })],
    ['an IPv6 address', () => ({ host: '::1', port: ground.origin.ipv6Port ?? 0 })],
    ['a unix socket', () => ({ socketPath: ground.origin.socketPath ?? '' })],
  ] as const) {
    it(`reaches ${what}, and nothing is left of it`, async () => {
      assert.equal(await health(to()), 'ok')
      await noChannelLeft()
      await until(() => ground.origin.connections === 0)
    })
  }

  it('says where a socket leads', async () => {
    const [tcp, unix] = await Promise.all([
      ground.lease.connect({ port: ground.origin.port }),
      ground.lease.connect({ socketPath: ground.origin.socketPath ?? '' }),
    ])
    assert.equal(tcp.remoteAddress, `127.0.0.1:${ground.origin.port}`)
    assert.equal(unix.remoteAddress, ground.origin.socketPath)
    assert.equal(tcp.connecting, false)
    tcp.destroy()
    unix.destroy()
  })

  it("is refused with the server's own reason, which costs the call and not the tunnel", async () => {
    const door = await Door.open(() => {})
    await door.close()
    const error = await refusal(ground.lease.connect({ port: door.port }), 'ERR_CHANNEL_REFUSED', 'channel')
    assert.match(error.message, /Connection refused/)
    assert.equal(error.retryable, true)
    const missing = { socketPath: join(ground.sshd.directory, 'nobody') }
    assert.match((await refusal(ground.lease.connect(missing), 'ERR_CHANNEL_REFUSED', 'channel')).message, /open failed/)
    const unknown = { host: 'nonexistent.invalid', port: 80 }
    assert.match(
      (await refusal(ground.lease.connect(unknown), 'ERR_CHANNEL_REFUSED', 'channel')).message,
      /not known|open failed/,
    )
    assert.equal(await health({ port: ground.origin.port }), 'ok')
    assert.equal(ground.pool.stats.opened, 1)
    await noChannelLeft()
  })

  it('by `socket` says the same as its error', async () => {
    const door = await Door.open(() => {})
    await door.close()
    const socket = ground.lease.socket({ port: door.port })
    assert.equal(socket.connecting, true)
    const [error] = await once(socket, 'error')
    assert.ok(TunnelError.is(error))
    assert.equal(error.code, 'ERR_CHANNEL_REFUSED')
    assert.equal(socket.destroyed, true)
    assert.equal(socket.connecting, false)
  })

  it('with an aborted signal, or one that aborts, is ERR_ABORTED with its reason', async () => {
    const aborted = AbortSignal.abort('before')
    assert.equal(
      (await refusal(ground.lease.connect({ port: ground.origin.port }, { signal: aborted }), 'ERR_ABORTED')).cause,
      'before',
    )
    const controller = new AbortController()
    const opening = refusal(ground.lease.connect({ port: ground.origin.port }, { signal: controller.signal }), 'ERR_ABORTED')
    controller.abort('meanwhile')
    assert.equal((await opening).cause, 'meanwhile')
    await noChannelLeft()
    await until(() => ground.origin.connections === 0)
  })

  it('after the release is refused; what was connected before is destroyed by it', async () => {
    const socket = await ground.lease.connect({ port: ground.origin.port })
    const failed = once(socket, 'error')
    ground.lease.release()
    assert.equal((await failed)[0].code, 'ERR_ABORTED')
    await refusal(ground.lease.connect({ port: ground.origin.port }), 'ERR_ABORTED')
    const late = ground.lease.socket({ port: ground.origin.port })
    assert.equal((await once(late, 'error'))[0].code, 'ERR_ABORTED')
    await noChannelLeft()
    await until(() => ground.origin.connections === 0)
  })
})

describe('connect, where the server does not permit it', () => {
  for (const [what, config] of [
    ['AllowTcpForwarding no', { AllowTcpForwarding: 'no', AllowStreamLocalForwarding: 'no' }],
    ['PermitOpen', { PermitOpen: '127.0.0.1:1' }],
  ] as const) {
    it(`(${what}) is ERR_PROHIBITED, and the tunnel stays`, async () => {
      await using origin = await startOrigin()
      await using sshd = await startSshd({ config })
      await using pool = startPool()
      await using lease = await pool.acquire(sshd.target)
      const error = await refusal(lease.connect({ port: origin.port }), 'ERR_PROHIBITED', 'channel')
      assert.equal(error.retryable, false)
      // Of a unix socket sshd says the same as if nobody listened there.
      if ('AllowStreamLocalForwarding' in config)
        await refusal(lease.connect({ socketPath: '/x' }), 'ERR_CHANNEL_REFUSED', 'channel')
      assert.equal((await pool.probe(sshd.target)).state, 'serving')
      assert.equal(lease.signal.aborted, false)
      assert.equal(origin.connections, 0)
    })
  }
})
