import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { census, type Fleet, type FleetHost, startFleet } from '../../src/testing/index.ts'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { closeServer } from '../../src/testing/server.ts'
import { startOrigin } from '../support/origin.ts'
import { collected, RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const FIN_WAIT2 = '05'

describe('a fleet host', () => {
  let fleet: Fleet
  let host: FleetHost
  let other: FleetHost

  beforeEach(async () => {
    fleet = await startFleet({ hosts: 2 })
    const [first, second] = fleet.hosts
    assert.ok(first && second)
    host = first
    other = second
  })

  afterEach(() => fleet.close())

  /** Time for a host that answers to have answered. */
  async function someTurns(): Promise<void> {
    await using raw = await RawClient.connect(other.target)
    for (let turn = 0; turn < 10; turn += 1) await raw.roundTrip()
  }

  it('neither reads nor writes a byte while it is frozen, and all of them afterwards', async () => {
    await using raw = await RawClient.connect(host.target)
    await raw.roundTrip()
    const { bytesRead } = raw.socket
    host.freeze()
    let isAnswered = false
    const answer = raw.roundTrip().then(() => {
      isAnswered = true
    })
    await someTurns()
    assert.equal(isAnswered, false)
    assert.equal(raw.socket.bytesRead, bytesRead)
    host.thaw()
    await answer
    assert.equal((await raw.exec('echo thawed')).stdout, 'thawed\n')
  })

  it('accepts TCP while it is frozen, and says nothing until it is thawed', async () => {
    host.freeze()
    const socket = connect({ host: '127.0.0.1', port: host.target.port ?? 0 })
    await once(socket, 'connect')
    await someTurns()
    assert.equal(socket.bytesRead, 0)
    host.thaw()
    const [banner] = await once(socket, 'data')
    assert.match(String(banner), /^SSH-2\.0-/)
    socket.destroy()
  })

  it('does not notice a client that leaves while it is frozen, until it is thawed', async () => {
    const raw = await RawClient.connect(host.target)
    await raw.session('cat')
    host.freeze()
    await raw[Symbol.asyncDispose]()
    await someTurns()
    assert.equal(host.counts.openChannels, 1)
    host.thaw()
    await until(() => host.counts.openChannels === 0)
  })

  it('refuses connects by the kernel, keeps its port from everybody else, and its present connections', async () => {
    await using raw = await RawClient.connect(host.target)
    const { port } = host.target
    host.refuse()
    const refused = connect({ host: '127.0.0.1', port: port ?? 0 })
    const [error] = await once(refused, 'error')
    assert.equal(error.code, 'ECONNREFUSED')
    assert.ok(!(await census()).listening.includes(`tcp 127.0.0.1:${port}`))
    await raw.roundTrip()
    const thieves: Server[] = []
    for (let thief = 0; thief < 100; thief += 1) {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
      thieves.push(server)
    }
    host.refuse(false)
    await using again = await RawClient.connect(host.target)
    await again.roundTrip()
    assert.equal(host.counts.connections, 2)
    await Promise.all(thieves.map(closeServer))
  })

  it('listens as last told, however fast it is told', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      host.refuse(turn % 2 === 0)
      host.refuse(turn % 3 === 0)
    }
    host.refuse(false)
    await until(async () => (await RawClient.connect(host.target))[Symbol.asyncDispose]().then(() => true))
    for (const on of [false, true, false, true]) host.refuse(on)
    const [error] = await once(connect({ host: '127.0.0.1', port: host.target.port ?? 0 }), 'error')
    assert.equal(error.code, 'ECONNREFUSED')
  })

  it('resets every connection when it severs, and takes new ones', async () => {
    await using first = await RawClient.connect(host.target)
    await using second = await RawClient.connect(host.target)
    host.sever()
    await until(() => first.socket.closed && second.socket.closed)
    for (const raw of [first, second]) assert.match(String(raw.errors[0]), /ECONNRESET/)
    await using third = await RawClient.connect(host.target)
    await third.roundTrip()
  })

  it('delays each way and keeps the order', async () => {
    await using origin = await startOrigin()
    await using raw = await RawClient.connect(host.target)
    host.delay(30)
    const started = performance.now()
    await raw.roundTrip()
    const millis = performance.now() - started
    assert.ok(millis >= 59 && millis < 500, `${millis} ms`)
    const channel = await raw.channel(origin.halfClosePort)
    const words = Array.from({ length: 200 }, (_, index) => `${index} `)
    for (const word of words) channel.write(word)
    channel.end()
    assert.equal((await collected(channel)).toString(), words.join(''))
    host.delay(0)
    const later = performance.now()
    await raw.roundTrip()
    assert.ok(performance.now() - later < 30)
  })

  it('answers everything but channel opens while these are muted, and them afterwards', async () => {
    await using origin = await startOrigin()
    await using raw = await RawClient.connect(host.target)
    host.muteChannels()
    let opened = 0
    const channels = [raw.channel(origin.halfClosePort), raw.session('cat'), raw.channel(80)]
    for (const channel of channels) void channel.then(() => (opened += 1))
    for (let turn = 0; turn < 10; turn += 1) await raw.roundTrip()
    assert.equal(opened, 0)
    assert.equal(host.counts.channels, 0)
    host.muteChannels(false)
    await Promise.all(channels)
    assert.equal(host.counts.openChannels, 3)
  })

  it('keeps no channel for a client that has left before it was answered', async () => {
    host.muteChannels()
    const raw = await RawClient.connect(host.target)
    const channel = raw.session('cat')
    await raw.roundTrip()
    await raw[Symbol.asyncDispose]()
    await assert.rejects(channel)
    await someTurns()
    host.muteChannels(false)
    assert.equal(host.counts.channels, 0)
  })

  it('shows new connections another host key, and its target still pins the first', async () => {
    const pinned = structuredClone(host.target)
    await using raw = await RawClient.connect(host.target)
    host.rotateHostKey()
    await assert.rejects(RawClient.connect(host.target), /Host denied/)
    assert.deepEqual(host.target, pinned)
    await raw.roundTrip()
  })

  it('lets nobody in while it rejects', async () => {
    host.rejectAuth()
    await assert.rejects(RawClient.connect(host.target), /authentication methods failed/)
    assert.equal(host.counts.logins, 0)
    host.rejectAuth(false)
    await using raw = await RawClient.connect(host.target)
    await raw.roundTrip()
    await assert.rejects(
      RawClient.connect(host.target, { privateKey: Buffer.from(makeKeyPair().private) }),
      /authentication methods failed/,
    )
  })

  it('leaves a connection half closed when it swallows the FIN', async () => {
    await using raw = await RawClient.connect(host.target)
    host.swallowFin()
    raw.client.end()
    await until(() => tcpState(raw.socket) === FIN_WAIT2)
    await someTurns()
    assert.equal(tcpState(raw.socket), FIN_WAIT2)
    assert.equal(raw.socket.readableEnded, false)
    const ended = once(raw.socket, 'close')
    host.swallowFin(false)
    await ended
  })

  it('puts garbage into what clients read', async () => {
    await using raw = await RawClient.connect(host.target)
    const { bytesRead } = raw.socket
    host.garbage()
    await until(() => raw.errors.length > 0)
    assert.equal(raw.socket.bytesRead, bytesRead + 64)
    await using again = await RawClient.connect(host.target)
    await again.roundTrip()
  })
})

/** What the kernel says about the client's end of a connection. */
function tcpState({ localPort = 0, remotePort = 0 }: Socket): string | undefined {
  const address = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return rows.find(([, local, remote]) => local === address(localPort) && remote === address(remotePort))?.[3]
}
