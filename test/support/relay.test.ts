import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { closed } from '../../src/testing/closed.ts'
import { type Origin, startOrigin } from './origin.ts'
import { collected } from './raw-client.ts'
import { type Relay, startRelay } from './relay.ts'
import { until } from './until.ts'

describe('a relay', () => {
  let origin: Origin
  let relay: Relay
  let clients: Socket[] = []

  beforeEach(async () => {
    origin = await startOrigin()
    relay = await startRelay({ port: origin.halfClosePort })
  })

  afterEach(async () => {
    const all = clients.filter((socket) => !socket.closed).map(closed)
    for (const socket of clients) socket.destroy()
    clients = []
    await Promise.all([...all, relay.close(), origin.close()])
  })

  function client(port = relay.port): Socket {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
    socket.on('error', () => {})
    clients.push(socket)
    return socket
  }

  /** Time for what is not held back to have arrived. */
  async function someTurns(): Promise<void> {
    const socket = client(origin.halfClosePort)
    socket.end('x')
    await collected(socket)
  }

  it('passes bytes and both ends on', async () => {
    const sent = randomBytes(8 * 1024 * 1024)
    const socket = client()
    socket.end(sent)
    assert.ok((await collected(socket)).equals(sent))
    await until(() => relay.open === 0 && origin.connections === 0)
    assert.equal(relay.connections, 1)
  })

  it('passes a refusal on as a reset', async () => {
    await using toNowhere = await startRelay({ port: 1 })
    const [error] = await once(client(toNowhere.port), 'error')
    assert.equal(error.code, 'ECONNRESET')
  })

  it('forwards nothing while it is frozen, not even the end, and everything afterwards', async () => {
    const socket = client()
    await once(socket, 'connect')
    await until(() => origin.connections === 1)
    relay.freeze()
    const received = collected(socket)
    socket.end('frozen')
    await someTurns()
    assert.equal(socket.bytesRead, 0)
    assert.equal(relay.open, 1)
    relay.thaw()
    assert.equal((await received).toString(), 'frozen')
  })

  it('passes no reset on while it is frozen', async () => {
    const socket = client()
    await until(() => origin.connections === 1)
    relay.freeze()
    await origin.close()
    origin = await startOrigin()
    await someTurns()
    assert.equal(socket.closed, false)
  })

  it('passes bytes but no FIN while it swallows that', async () => {
    await using http = await startRelay({ port: origin.port })
    const socket = client(http.port)
    http.swallowFin()
    socket.write('GET /health HTTP/1.0\r\n\r\n')
    await until(() => /ok$/.test(String(socket.read() ?? '')))
    await someTurns()
    assert.equal(socket.readableEnded, false)
    http.swallowFin(false)
    socket.resume()
    await once(socket, 'end')
  })

  it('resets both sides', async () => {
    const socket = client()
    await until(() => origin.connections === 1)
    const failed = once(socket, 'error')
    relay.reset()
    const [error] = await failed
    assert.equal(error.code, 'ECONNRESET')
    await until(() => origin.connections === 0)
  })

  for (const from of ['client', 'server'] as const) {
    it(`resets once so many bytes have come from the ${from}`, async () => {
      await using http = await startRelay({ port: origin.port })
      http.resetAt(200, from)
      const socket = client(http.port)
      let bytes = 0
      socket.on('data', (part: Buffer) => {
        bytes += part.length
      })
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(1_000)}`)
      // A reset that comes in one turn with data is an 'end' to Node.
      await until(() => socket.readableEnded || socket.closed)
      if (from === 'server') assert.equal(bytes, 200)
      await until(() => origin.connections === 0)
    })
  }

  it('puts garbage where it is told to', async () => {
    const socket = client()
    await until(() => origin.connections === 1)
    relay.garbage('client')
    const [received] = await once(socket, 'data')
    assert.equal(received.length, 64)
    relay.garbage('server')
    socket.end()
    assert.equal((await collected(socket)).length, 64)
  })

  it('delays each way and keeps the order', async () => {
    relay.delay(25)
    const started = performance.now()
    const socket = client()
    const words = Array.from({ length: 100 }, (_, index) => `${index} `)
    for (const word of words) socket.write(word)
    socket.end()
    assert.equal((await collected(socket)).toString(), words.join(''))
    const millis = performance.now() - started
    assert.ok(millis >= 49 && millis < 500, `${millis} ms`)
  })

  it('discards what it is told to drop', async () => {
    const socket = client()
    socket.write('kept ')
    await until(() => origin.connections === 1)
    await someTurns()
    relay.drop()
    socket.write('dropped ')
    await someTurns()
    relay.drop(false)
    socket.end('kept, too')
    assert.equal((await collected(socket)).toString(), 'kept kept, too')
  })

  it('refuses, and is there again on its port', async () => {
    relay.refuse()
    const [error] = await once(client(), 'error')
    assert.equal(error.code, 'ECONNREFUSED')
    relay.refuse(false)
    const socket = client()
    socket.end('again')
    assert.equal((await collected(socket)).toString(), 'again')
  })
})
