import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '../../../../src/clock.ts'
import { Ledger } from '../../../../src/owners/ledger.ts'
import { Scope } from '../../../../src/owners/scope.ts'
import { closeServer } from '../../../../src/testing/server.ts'
import { askMaster, Control } from '../../../../src/transport/openssh/mux/control.ts'
import { helloMessage } from '../../../../src/transport/openssh/mux/messages.ts'
import { string, uint32 } from '../../../../src/transport/openssh/wire.ts'
import { Bench } from '../../../support/master.ts'
import { refusal } from '../../../support/pool.ts'
import { type Sshd, startSshd } from '../../../support/sshd.ts'
import { echo, startTcpServer, type TcpServer } from '../../../support/tcp-server.ts'
import { until } from '../../../support/until.ts'

/** What ssh itself says there. */
const SOCKS = { host: 'socks', port: 0 }
const bounds = { signal: undefined, timeoutMillis: 5_000 }
type Real = Awaited<ReturnType<Bench['master']>>

describe('PROTOCOL.mux, with a real master', () => {
  let sshd: Sshd
  let server: TcpServer
  let bench: Bench
  let real: Real

  before(async () => {
    sshd = await startSshd()
    server = await startTcpServer(echo)
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await sshd.close()
  })
  beforeEach(async () => {
    bench = new Bench()
    real = await bench.master(sshd.target)
  })
  afterEach(() => bench[Symbol.asyncDispose]())

  const master = () => ({ controlPath: real.controlPath, host: 'h', scope: real.scope, clock: systemClock })
  const to = () => ({ host: '127.0.0.1', port: server.port })
  const path = (name: string) => join(real.controlPath, '..', name)
  const sockets = () => real.scope.entries().filter(({ kind }) => kind === 'socket').length
  function answers(where: { port: number } | { path: string }): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', ...where } as never)
      socket.on('error', reject)
      socket.once('data', (data) => {
        socket.destroy()
        resolve(String(data))
      })
      socket.write('hello')
    })
  }

  it('proves by its pid whose it is, and leaves no socket', async () => {
    assert.deepEqual(await askMaster(master(), { kind: 'alive' }, bounds), { kind: 'alive', pid: real.child.pid })
    await until(() => sockets() === 0)
  })

  it('answers many questions on one connection', async () => {
    const control = await Control.connect(master(), bounds)
    for (let count = 0; count < 50; count += 1) assert.equal((await control.ask({ kind: 'alive' }, bounds)).kind, 'alive')
    control.close()
  })

  it('has the server listen on a port that it tells, and stop', async () => {
    const forward = { forward: 'remote', listen: { host: '127.0.0.1', port: 0 }, to: to() } as const
    const answer = await askMaster(master(), { kind: 'open-forward', ...forward }, bounds)
    assert.ok(answer.kind === 'port')
    assert.equal(await answers({ port: answer.port }), 'hello')
    assert.equal((await askMaster(master(), { kind: 'close-forward', ...forward }, bounds)).kind, 'ok')
    await until(() =>
      answers({ port: answer.port }).then(
        () => false,
        () => true,
      ),
    )
  })

  it('listens itself on a unix socket, carries it, and stops', async () => {
    const forward = { forward: 'local', listen: { socketPath: path('l') }, to: to() } as const
    assert.equal((await askMaster(master(), { kind: 'open-forward', ...forward }, bounds)).kind, 'ok')
    assert.equal(await answers({ path: path('l') }), 'hello')
    assert.equal((await askMaster(master(), { kind: 'close-forward', ...forward }, bounds)).kind, 'ok')
    await assert.rejects(answers({ path: path('l') }))
  })

  it('speaks SOCKS on a port, and says when it cannot', async () => {
    const { port: taken } = server
    const dynamic = (port: number) => ({ forward: 'dynamic', listen: { host: '127.0.0.1', port }, to: SOCKS }) as const
    assert.equal((await askMaster(master(), { kind: 'open-forward', ...dynamic(taken) }, bounds)).kind, 'failed')
    const free = await startTcpServer(echo)
    const { port } = free
    await free[Symbol.asyncDispose]()
    const answer = await askMaster(master(), { kind: 'open-forward', ...dynamic(port) }, bounds)
    assert.equal(answer.kind, 'ok')
    assert.equal((await askMaster(master(), { kind: 'close-forward', ...dynamic(port) }, bounds)).kind, 'ok')
  })

  it('says no to what it does not forward, with a reason', async () => {
    const forward = { forward: 'remote', listen: { host: '127.0.0.1', port: 9 }, to: to() } as const
    const answer = await askMaster(master(), { kind: 'close-forward', ...forward }, bounds)
    assert.ok(answer.kind === 'failed' && answer.reason !== '')
  })

  it('ends when it is told to', async () => {
    // It may be gone before it has said so.
    await askMaster(master(), { kind: 'terminate' }, bounds).catch(({ code }) => assert.equal(code, 'ERR_LOST'))
    await real.child.exited
    await refusal(askMaster(master(), { kind: 'alive' }, bounds), 'ERR_LOST')
  })

  it('that is stopped is waited for no longer than is bound, and no longer than anyone cares', async () => {
    process.kill(real.child.pid, 'SIGSTOP')
    await refusal(askMaster(master(), { kind: 'alive' }, { ...bounds, timeoutMillis: 100 }), 'ERR_CHANNEL_TIMEOUT')
    const controller = new AbortController()
    const asked = askMaster(master(), { kind: 'alive' }, { ...bounds, signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(asked, /enough/)
    await until(() => sockets() === 0)
    process.kill(real.child.pid, 'SIGCONT')
  })

  it('trap: any global request in proxy mode but tcpip-forward ends it', async () => {
    const control = await Control.connect(master(), bounds)
    await control.becomeProxy(bounds)
    control.socket.write(string(Buffer.concat([Buffer.of(0, 80), string('keepalive@openssh.com'), Buffer.of(1)])))
    // And all that goes through it. (9.2: the master itself lives on, unless a channel was refused before.)
    await once(control.socket, 'close')
  })

  it('trap: a proxy connection that is closed after a channel was refused ends it', async () => {
    const control = await Control.connect(master(), bounds)
    await control.becomeProxy(bounds)
    let heard = 0
    control.socket.on('data', (chunk: Buffer) => {
      heard += chunk.length
    })
    const details = [string('127.0.0.1'), uint32(1), string('127.0.0.1'), uint32(0)]
    const open = [Buffer.of(0, 90), string('direct-tcpip'), uint32(1), uint32(1_000), uint32(1_000), ...details]
    control.socket.write(string(Buffer.concat(open)))
    await until(() => heard > 0)
    control.close()
    await real.child.exited
  })
})

describe('PROTOCOL.mux, with somebody who', () => {
  const alive = (id: number) => string(Buffer.concat([uint32(0x80000005), uint32(id), uint32(4711)]))
  const cases: ReadonlyArray<readonly [what: string, serve: (socket: Socket) => void, code: 'ERR_LOST' | 'ERR_CHANNEL_TIMEOUT']> =
    [
      ['says nothing', () => {}, 'ERR_CHANNEL_TIMEOUT'],
      ['closes', (socket) => void socket.end(), 'ERR_LOST'],
      ['speaks another version', (socket) => void socket.write(string(Buffer.concat([uint32(1), uint32(5)]))), 'ERR_LOST'],
      ['speaks something else', (socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'), 'ERR_LOST'],
      ['announces 4 GiB', (socket) => void socket.write(uint32(0xffffffff)), 'ERR_LOST'],
      ['answers another question', (socket) => void socket.write(Buffer.concat([helloMessage(), alive(2)])), 'ERR_LOST'],
      [
        'answers before it is asked, twice',
        (socket) => void socket.write(Buffer.concat([helloMessage(), alive(1), alive(1)])),
        'ERR_LOST',
      ],
      ['breaks off', (socket) => void socket.end(Buffer.concat([helloMessage(), uint32(12), uint32(5)])), 'ERR_LOST'],
    ]

  for (const [what, serve, code] of cases) {
    it(`${what} is ${code}`, async () => {
      const scope = new Scope(new Ledger(), 'tunnel')
      await using bench = new Bench()
      const directory = await bench.directory()
      const controlPath = directory.claim()
      const clients = new Set<Socket>()
      const server: Server = createServer((socket) => {
        clients.add(socket.on('error', () => {}))
        serve(socket)
      })
      await new Promise<void>((resolve) => server.listen(controlPath, resolve))
      const asked = askMaster(
        { controlPath, host: 'h', scope, clock: systemClock },
        { kind: 'alive' },
        { ...bounds, timeoutMillis: 200 },
      )
      try {
        await refusal(asked, code)
        await until(() => scope.size === 0)
      } finally {
        for (const client of clients) client.destroy()
        await closeServer(server)
      }
    })
  }
})
