import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FrameCutter } from '../../../../src/transport/openssh/frames.ts'
import { readAnswer } from '../../../../src/transport/openssh/mux/messages.ts'
import { MESSAGE, readMessage, WINDOW_BYTES } from '../../../../src/transport/openssh/proxy/messages.ts'
import { string } from '../../../../src/transport/openssh/wire.ts'
import { type Asked, message, request, World } from './world.ts'

const RUNS = process.env.WARREN_LONG === '1' ? 20_000 : 300
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))
const types = Object.values(MESSAGE)
/** Channels are numbered from 1; numbers of none, and of some. */
const id = fc.integer({ min: 0, max: 5 })

/** What a server may say, much of it wrong. */
const sayings = fc.oneof(
  { weight: 6, arbitrary: id.map((to) => message(MESSAGE.openConfirmation, to, 70 + to, 2 ** 20, 2 ** 15)) },
  { weight: 2, arbitrary: id.map((to) => message(MESSAGE.openFailure, to, 2, 'Connection refused', '')) },
  {
    weight: 8,
    arbitrary: fc.tuple(id, fc.nat({ max: 200_000 })).map(([to, length]) => message(MESSAGE.data, to, Buffer.alloc(length, 1))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(id, fc.nat({ max: 3 }), bytes(64))
      .map(([to, kind, data]) => message(MESSAGE.extendedData, to, kind, data)),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(id, fc.nat({ max: 2 ** 32 - 1 })).map(([to, more]) => message(MESSAGE.windowAdjust, to, more)),
  },
  { weight: 3, arbitrary: id.map((to) => message(MESSAGE.eof, to)) },
  { weight: 3, arbitrary: id.map((to) => message(MESSAGE.close, to)) },
  { weight: 2, arbitrary: fc.tuple(id, fc.boolean()).map(([to, wants]) => request(to, 'exit-status', wants)) },
  { weight: 1, arbitrary: id.map((to) => message(MESSAGE.success, to)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...types), bytes(40))
      .map(([type, body]) => string(Buffer.concat([Buffer.of(0, type), body]))),
  },
  { weight: 1, arbitrary: bytes(40) },
)

/** What we do meanwhile. */
const doings = fc.constantFrom('ask', 'session', 'give up', 'read', 'write', 'end', 'destroy', 'question', 'error output')
const turn = fc.oneof(
  { weight: 3, arbitrary: sayings.map((saying) => ({ saying })) },
  { weight: 2, arbitrary: fc.record({ doing: doings, which: fc.nat({ max: 5 }) }) },
)

function act(world: World, all: Asked[], doing: string, which: number): void {
  const asked = all[which % Math.max(1, all.length)]
  const channel = asked?.channel
  if (doing === 'ask') all.push(world.ask())
  else if (doing === 'session') all.push(world.ask({ type: 'session' }))
  else if (doing === 'give up') asked?.giveUp()
  else if (doing === 'read') channel?.read(Math.min(channel.readableLength, 70_000))
  else if (doing === 'write' && channel?.writable) channel.write(Buffer.alloc(5_000))
  else if (doing === 'end') channel?.end()
  else if (doing === 'destroy') channel?.destroy()
  else if (doing === 'question') channel?.ask('q', [], () => {})
  else if (doing === 'error output') channel?.stderr.resume()
}

describe('proxy mode, whatever comes', () => {
  it('a message is read or is none, and one that is cut short is none', () => {
    fc.assert(
      fc.property(bytes(80), (frame) => {
        const read = readMessage(frame)
        assert.ok(read === undefined || typeof read.type === 'string')
      }),
      { numRuns: 4 * RUNS },
    )
    for (const whole of [
      message(MESSAGE.openConfirmation, 1, 2, 3, 4),
      message(MESSAGE.openFailure, 1, 2, 'no'),
      message(MESSAGE.data, 1, 'data'),
      message(MESSAGE.extendedData, 1, 1, 'data'),
      message(MESSAGE.windowAdjust, 1, 2),
      message(MESSAGE.close, 1),
      request(1, 'name', true),
    ]) {
      const frame = whole.subarray(4)
      assert.notEqual(readMessage(frame), undefined)
      for (let length = 0; length < frame.length; length += 1) assert.equal(readMessage(frame.subarray(0, length)), undefined)
    }
  })

  it('an answer of a master is read or is none', () => {
    fc.assert(
      fc.property(bytes(40), fc.nat(), (frame, of) => {
        const read = readAnswer(frame, of)
        assert.ok(read === undefined || typeof read.kind === 'string')
      }),
      { numRuns: 4 * RUNS },
    )
  })

  it('a stream is cut into the frames it is made of, however it arrives, and one that makes no sense into none', () => {
    const frames = fc.array(
      bytes(50).filter((frame) => frame.length > 0),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), bytes(9), (given, cuts, noise) => {
        const stream = Buffer.concat([...given.map(string), noise])
        const cut: Buffer[] = []
        const cutter = new FrameCutter(50, (frame) => cut.push(Buffer.from(frame)))
        let at = 0
        for (let turns = 0; at < stream.length; turns += 1) {
          const size = cuts[turns % cuts.length] ?? 1
          cutter.push(stream.subarray(at, at + size))
          at += size
          assert.ok(cutter.pendingBytes <= 54)
        }
        assert.deepEqual(cut.slice(0, given.length), given)
      }),
      { numRuns: RUNS },
    )
  })

  it('no order of messages and deeds throws, hangs, or holds more than it may; and the end of it frees all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 60 }), async (turns) => {
        const world = new World()
        const all: Asked[] = []
        for (const each of turns) {
          if ('saying' in each) world.says(each.saying)
          else act(world, all, each.doing, each.which)
          if (turns.length % 3 === 0) await Promise.resolve()
          const most = all.length * 2 * WINDOW_BYTES
          assert.ok(world.buffered.bytes >= 0 && world.buffered.bytes <= most, `${world.buffered.bytes} bytes lie here`)
        }
        assert.ok(world.broken.length <= 1)
        world.layer.lose(Object.assign(new Error('over'), { code: 'ERR_LOST' }) as never)
        for (const { channel } of all) channel?.destroy()
        await new Promise(setImmediate)
        assert.equal(world.layer.size, 0)
        assert.equal(world.buffered.bytes, 0)
        assert.deepEqual(
          all.map(({ gone }) => gone),
          all.map(() => 1),
        )
      }),
      { numRuns: RUNS },
    )
  })
})
