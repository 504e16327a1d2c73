import assert from 'node:assert/strict'
import { once } from 'node:events'
import { TunnelError } from '../../../../src/index.ts'
import { MESSAGE, STDERR, WINDOW_BYTES } from '../../../../src/transport/openssh/proxy/messages.ts'
import { until } from '../../../support/until.ts'
import { message, request, World } from './world.ts'

const PACKET = Buffer.alloc(32 * 1024)
const granted = (world: World) => world.sentOf(MESSAGE.windowAdjust).reduce((sum, body) => sum + body.readUInt32BE(4), 0)
const sentBytes = (world: World) => world.sentOf(MESSAGE.data).reduce((sum, body) => sum + body.readUInt32BE(4), 0)
const SESSION = { type: 'session' } as const

describe('proxy mode: a channel', () => {
  it('opens its window again only as its reader consumes, and by as much', async () => {
    const world = new World()
    const channel = world.open()
    for (let sent = 0; sent < WINDOW_BYTES; sent += PACKET.length) world.says(message(MESSAGE.data, 1, PACKET))
    assert.equal(granted(world), 0)
    assert.equal(channel.readableLength, WINDOW_BYTES)
    assert.equal(world.buffered.bytes, WINDOW_BYTES)
    while (channel.readableLength > WINDOW_BYTES / 2) channel.read(PACKET.length)
    assert.ok(granted(world) <= WINDOW_BYTES / 2 && granted(world) > 0)
    channel.resume()
    await until(() => channel.readableLength === 0)
    assert.equal(world.buffered.bytes, 0)
    assert.ok(granted(world) > WINDOW_BYTES / 2 && granted(world) <= WINDOW_BYTES)
  })

  it('counts error output against the same window', async () => {
    const world = new World()
    const channel = world.open(SESSION)
    const { stderr } = channel
    for (let sent = 0; sent < WINDOW_BYTES; sent += 2 * PACKET.length)
      world.says(message(MESSAGE.data, 1, PACKET), message(MESSAGE.extendedData, 1, STDERR, PACKET))
    assert.equal(world.buffered.bytes, WINDOW_BYTES)
    stderr.resume()
    await until(() => stderr.readableLength === 0)
    assert.ok(granted(world) > 0 && granted(world) <= WINDOW_BYTES / 2)
  })

  it('sends no more than the window and in no larger packets than the other side takes', async () => {
    const world = new World()
    const channel = world.open(undefined, 1_000, 300)
    let isDone = false
    channel.write(Buffer.alloc(1_500), () => {
      isDone = true
    })
    assert.deepEqual(
      world.sentOf(MESSAGE.data).map((body) => body.readUInt32BE(4)),
      [300, 300, 300, 100],
    )
    world.says(message(MESSAGE.windowAdjust, 1, 499))
    assert.equal(isDone, false)
    world.says(message(MESSAGE.windowAdjust, 1, 1))
    await until(() => isDone)
    assert.equal(sentBytes(world), 1_500)
    channel.destroy()
  })

  it('waits while the connection takes no more, and goes on when it does', async () => {
    const world = new World()
    world.socket.isOpen = false
    const channel = world.open(undefined, 16 * 1024 * 1024)
    let writes = 0
    const write = (): void => {
      writes += 1
      if (writes < 12) channel.write(Buffer.alloc(1024 * 1024), write)
    }
    write()
    await new Promise(setImmediate)
    assert.ok(world.socket.writableLength < 2.1 * 1024 * 1024, `${world.socket.writableLength} bytes unsent`)
    world.socket.drain()
    await until(() => writes === 12)
    channel.destroy()
  })

  it('half-closes each way, and is closed once both have ended', async () => {
    const world = new World()
    const asked = world.ask()
    world.says(message(MESSAGE.openConfirmation, 1, 70, 1_000, 1_000))
    const { channel } = asked
    assert.ok(channel)
    channel.end('last')
    await until(() => world.sentOf(MESSAGE.eof).length === 1)
    world.says(message(MESSAGE.data, 1, 'answer'), message(MESSAGE.eof, 1))
    assert.equal(world.sentOf(MESSAGE.close).length, 0)
    const read: Buffer[] = []
    for await (const chunk of channel) read.push(chunk as Buffer)
    assert.equal(String(Buffer.concat(read)), 'answer')
    await until(() => world.sentOf(MESSAGE.close).length === 1)
    assert.equal(asked.gone, 0)
    world.says(message(MESSAGE.close, 1))
    assert.equal(asked.gone, 1)
    assert.equal(world.layer.size, 0)
  })

  it('of a command is not closed before the server has told how it ended', async () => {
    const world = new World()
    const asked = world.ask(SESSION)
    world.says(message(MESSAGE.openConfirmation, 1, 70, 1_000, 1_000))
    asked.channel?.end()
    asked.channel?.resume()
    world.says(message(MESSAGE.eof, 1))
    await until(() => asked.channel?.readableEnded)
    assert.equal(world.sentOf(MESSAGE.close).length, 0)
    world.says(request(1, 'exit-status', false), message(MESSAGE.close, 1))
    assert.deepEqual(asked.requests, ['exit-status'])
    await until(() => asked.gone === 1)
  })

  it('that the server closes is read to its end, error output too, before it closes, and is held until then', async () => {
    const world = new World()
    const asked = world.ask(SESSION)
    world.says(message(MESSAGE.openConfirmation, 1, 70, 1_000, 1_000))
    const { channel } = asked
    assert.ok(channel)
    const { stderr } = channel
    world.says(message(MESSAGE.data, 1, 'out'), message(MESSAGE.extendedData, 1, STDERR, 'err'), message(MESSAGE.close, 1))
    assert.equal(asked.gone, 0)
    assert.equal(world.buffered.bytes, 6)
    channel.resume()
    await until(() => channel.readableEnded)
    await new Promise(setImmediate)
    assert.equal(channel.destroyed, false)
    assert.equal(String(stderr.read()), 'err')
    stderr.resume()
    await once(channel, 'close')
    assert.equal(asked.gone, 1)
    assert.equal(world.buffered.bytes, 0)
    assert.equal(world.sentOf(MESSAGE.close).length, 1)
  })

  it('sends nothing after its close: its number may be another channel’s by then', async () => {
    const world = new World()
    const channel = world.open()
    for (let sent = 0; sent < WINDOW_BYTES; sent += PACKET.length) world.says(message(MESSAGE.data, 1, PACKET))
    channel.write('x')
    channel.destroy()
    world.says(message(MESSAGE.data, 1, PACKET), message(MESSAGE.windowAdjust, 1, 9), message(MESSAGE.eof, 1))
    channel.tell('signal', [])
    await until(() => channel.closed)
    assert.deepEqual(
      world.sent.slice(1).map(({ type }) => type),
      [MESSAGE.data, MESSAGE.close],
    )
  })

  it('that is given up before it is open is closed as soon as it is, and told of to nobody', () => {
    const world = new World()
    const [late, refused] = [world.ask(), world.ask()]
    late.giveUp()
    refused.giveUp()
    world.says(message(MESSAGE.openConfirmation, 1, 70, 1_000, 1_000), message(MESSAGE.openFailure, 2, 2, 'no', ''))
    assert.equal(late.channel, undefined)
    assert.equal(world.sentOf(MESSAGE.close).length, 1)
    assert.deepEqual([late.gone, refused.gone], [0, 1])
    world.says(message(MESSAGE.close, 1))
    assert.equal(late.gone, 1)
    assert.equal(refused.refusal?.reason, 2)
  })

  it('is asked in order, and answers none when it is closed', () => {
    const world = new World()
    const channel = world.open()
    const answers: unknown[] = []
    for (const name of ['a', 'b', 'c']) channel.ask(name, [], (isDone) => answers.push(isDone))
    world.says(message(MESSAGE.success, 1), message(MESSAGE.failure, 1), message(MESSAGE.close, 1))
    channel.ask('d', [], (isDone) => answers.push(isDone))
    assert.deepEqual(answers, [true, false, undefined, undefined])
  })

  it('fails with the loss of its connection, and never ends', async () => {
    const world = new World()
    const asked = world.ask()
    world.says(message(MESSAGE.openConfirmation, 1, 70, 1_000, 1_000), message(MESSAGE.data, 1, 'unread'))
    const pending = world.ask()
    const { channel } = asked
    assert.ok(channel)
    let hasEnded = false
    channel.on('end', () => {
      hasEnded = true
    })
    const failed = once(channel, 'error')
    const error = new TunnelError('ERR_LOST', 'gone')
    world.layer.lose(error)
    assert.equal((await failed)[0], error)
    channel.resume()
    await new Promise(setImmediate)
    assert.equal(hasEnded, false)
    assert.deepEqual([asked.gone, pending.gone, world.layer.size, world.buffered.bytes], [1, 1, 0, 0])
  })

  it('keeps no more memory than it has unread bytes', () => {
    const world = new World()
    const channel = world.open()
    const other = Buffer.concat([message(MESSAGE.data, 1, 'x'), Buffer.alloc(0)])
    for (let count = 0; count < 100; count += 1)
      world.says(Buffer.concat([other, message(MESSAGE.extendedData, 1, STDERR, Buffer.alloc(60_000))]))
    let kept = 0
    for (let chunk = channel.read(1) as Buffer | null; chunk !== null; chunk = channel.read(1) as Buffer | null)
      kept = Math.max(kept, chunk.buffer.byteLength)
    assert.ok(kept <= 16 * 1024, `${kept} bytes are kept for one`)
  })
})
