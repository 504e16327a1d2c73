import assert from 'node:assert/strict'
import { MESSAGE, STDERR, WINDOW_BYTES } from '../../../../src/transport/openssh/proxy/messages.ts'
import { uint32 } from '../../../../src/transport/openssh/wire.ts'
import { until } from '../../../support/until.ts'
import { message, request, World } from './world.ts'

const PACKET = Buffer.alloc(32 * 1024)
const TCP = { type: 'direct-tcpip', host: 'h', port: 1 } as const
const data = (bytes: Buffer | string = PACKET) => message(MESSAGE.data, 1, bytes)

describe('proxy mode: a server that', () => {
  const violations: ReadonlyArray<readonly [what: string, does: (world: World) => void, says: RegExp]> = [
    [
      'sends a window more than it may',
      (world) => {
        for (let sent = 0; sent <= 2 * WINDOW_BYTES; sent += PACKET.length) world.says(data())
      },
      /more than the window/,
    ],
    [
      'sends error output beyond measure',
      (world) => {
        void world.open({ type: 'session' }).stderr
        for (let sent = 0; sent <= 2 * WINDOW_BYTES; sent += PACKET.length)
          world.says(message(MESSAGE.extendedData, 2, STDERR, PACKET))
      },
      /more than the window/,
    ],
    ['sends after its end', (world) => world.says(message(MESSAGE.eof, 1), data('x')), /after the end/],
    ['opens a channel', (world) => world.says(message(MESSAGE.open, 'x11', 5, 1, 1)), /x11.*nobody asked/],
    [
      'opens a forwarded channel',
      (world) => world.says(message(MESSAGE.open, 'forwarded-tcpip', 5, 1, 1)),
      /forwarded-tcpip.*nobody asked/,
    ],
    ['speaks of no channel', (world) => world.says(message(MESSAGE.data, 9, 'x')), /channel that there is not/],
    [
      'closes twice',
      (world) => {
        world.open()
        world.says(message(MESSAGE.close, 2), message(MESSAGE.close, 2))
      },
      /channel that there is not/,
    ],
    ['confirms twice', (world) => world.says(message(MESSAGE.openConfirmation, 1, 1, 1, 1024)), /answered twice/],
    ['refuses what is open', (world) => world.says(message(MESSAGE.openFailure, 1, 1, 'no', '')), /answered twice/],
    [
      'speaks of a channel before it is open',
      (world) => {
        world.ask(TCP)
        world.says(message(MESSAGE.data, 2, 'x'))
      },
      /before it was open/,
    ],
    ['answers what nobody asked', (world) => world.says(message(MESSAGE.success, 1)), /nobody asked/],
    [
      'opens its window beyond 2^32-1',
      (world) => world.says(message(MESSAGE.windowAdjust, 1, 0xffffffff)),
      /window beyond measure/,
    ],
    [
      'takes packets of nothing',
      (world) => {
        world.ask(TCP)
        world.says(message(MESSAGE.openConfirmation, 2, 2, 100, 0))
      },
      /packets of 0 bytes/,
    ],
    [
      'asks without end',
      (world) => {
        for (let count = 0; count < 101; count += 1) world.says(request(1, 'keepalive@openssh.com', true))
      },
      /100 times a second/,
    ],
    ['makes no sense', (world) => world.says(message(MESSAGE.data)), /no message of SSH/],
    ['speaks of its login again', (world) => world.says(message(52, 'x')), /no message of SSH/],
    ['announces a packet of 4 GiB', (world) => world.says(uint32(0xffffffff)), /impossible length/],
    ['announces a packet of nothing', (world) => world.says(uint32(0)), /impossible length/],
  ]

  for (const [what, does, says] of violations) {
    it(`${what} is ERR_PROTOCOL, once, and everything ends`, () => {
      const world = new World()
      const channel = world.open()
      does(world)
      world.says(data('x'))
      assert.equal(world.broken.length, 1)
      assert.equal(world.broken[0]?.code, 'ERR_PROTOCOL')
      assert.match(world.broken[0]?.message ?? '', says)
      assert.equal(channel.destroyed, true)
      assert.equal(world.layer.size, 0)
      assert.equal(world.buffered.bytes, 0)
    })
  }

  it('asks now and then is answered, and one that tells how commands end may do so as often as it likes', () => {
    const world = new World()
    world.open({ type: 'session' })
    for (let count = 0; count < 1_000; count += 1) {
      world.now += 20
      world.says(request(1, 'keepalive@openssh.com', true))
    }
    for (let count = 0; count < 1_000; count += 1) world.says(request(1, 'exit-status', false))
    assert.deepEqual(world.broken, [])
    assert.equal(world.sentOf(MESSAGE.failure).length, 1_000)
  })

  it('sends error output to a channel that has none, or a kind that nobody knows, fills nothing and stops nothing', () => {
    const world = new World()
    const channel = world.open()
    for (let sent = 0; sent < 8 * WINDOW_BYTES; sent += 2 * PACKET.length)
      world.says(message(MESSAGE.extendedData, 1, STDERR, PACKET), message(MESSAGE.extendedData, 1, 2, PACKET))
    world.says(data('done'))
    assert.deepEqual(world.broken, [])
    assert.equal(String(channel.read()), 'done')
    assert.equal(world.buffered.bytes, 0)
  })

  it('opens its window wide and reads nothing is sent no more than 16 MiB', async () => {
    const world = new World()
    const channel = world.open(undefined, 0xffffffff)
    let taken = 0
    const chunk = Buffer.alloc(1024 * 1024)
    const write = (error?: Error | null): void => {
      if (!error) channel.write(chunk, write)
    }
    write()
    await new Promise(setImmediate)
    const sent = () => world.sentOf(MESSAGE.data).reduce((sum, body) => sum + body.length, 0)
    await until(() => {
      const before = taken
      taken = sent()
      return taken === before
    })
    assert.ok(taken <= 17 * 1024 * 1024, `${taken} bytes`)
    assert.equal(world.sentOf(MESSAGE.request).length, 1)
    world.says(message(MESSAGE.failure, 1))
    await until(() => sent() > taken)
    channel.destroy()
  })

  it('opens a window again and again while nothing can be sent costs nothing', () => {
    const world = new World()
    world.socket.isOpen = false
    const channel = world.open(undefined, 4 * 1024 * 1024)
    channel.write(Buffer.alloc(4 * 1024 * 1024))
    const before = process.memoryUsage().heapUsed
    for (let count = 0; count < 20_000; count += 1) world.says(message(MESSAGE.windowAdjust, 1, 1))
    global.gc?.()
    assert.ok(process.memoryUsage().heapUsed - before < 8 * 1024 * 1024)
    assert.ok(world.socket.writableLength < 2 * 1024 * 1024, `${world.socket.writableLength} bytes unsent`)
    channel.destroy()
  })

  it('is told apart from one whose words are its own: they are bounded and clean', () => {
    const world = new World()
    world.says(message(MESSAGE.open, `a\u001b[2J${'b'.repeat(1_000)}`, 5, 1, 1))
    assert.ok((world.broken[0]?.message.length ?? 999) < 200)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    assert.doesNotMatch(world.broken[0]?.message ?? '', /[\u0000-\u001f]/)
  })

  it('sends one byte at a time is understood', () => {
    const world = new World()
    const channel = world.open()
    for (const byte of message(MESSAGE.data, 1, 'slow')) world.says(Buffer.of(byte))
    assert.equal(String(channel.read()), 'slow')
  })
})
