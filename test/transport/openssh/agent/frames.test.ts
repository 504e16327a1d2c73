import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FrameReader, LONGEST_FRAME } from '../../../../src/transport/openssh/agent/frames.ts'
import { string, uint32 } from '../../../../src/transport/openssh/wire.ts'

const pieces = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

describe('FrameReader', () => {
  it('cuts what was framed, however it arrives', () => {
    const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 })
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(), { maxLength: 12 }), (given, cuts) => {
        const framed = Buffer.concat(given.map((body) => string(Buffer.from(body))))
        const reader = new FrameReader()
        const read = pieces(framed, cuts).flatMap((piece) => reader.push(piece) ?? assert.fail('broken'))
        assert.deepEqual(
          read.map((body) => [...body]),
          given.map((body) => [...body]),
        )
      }),
    )
  })

  it('never throws, and never keeps more than one message, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const reader = new FrameReader()
        for (const chunk of chunks) reader.push(Buffer.from(chunk))
      }),
    )
  })

  for (const length of [0, LONGEST_FRAME + 1, 0xffffffff]) {
    it(`has no more to do with a stream that announces ${length} bytes`, () => {
      const reader = new FrameReader()
      assert.equal(reader.push(uint32(length)), undefined)
      assert.equal(reader.push(string('x')), undefined)
    })
  }

  it('takes the longest there may be', () => {
    const [frame] = new FrameReader().push(string(Buffer.alloc(LONGEST_FRAME, 7))) ?? []
    assert.equal(frame?.length, LONGEST_FRAME)
  })
})
