import type { Readable } from 'node:stream'

/** Unread bytes of a channel above which its window stays shut. */
const MARK_BYTES = 512 * 1024
/** A chunk may keep that much more memory than it has bytes. */
const MOST_WASTE = 1.25

/**
 * Makes what lies unread in a channel cost about what it is. ssh2 opens the window anew as long as less than a whole one lies there, so that
 * a channel nobody reads takes up to two; with a quarter it takes one and a quarter. And a chunk that lies there keeps all that was read from
 * the socket with it, other channels' bytes among it.
 */
export function beFrugal(readable: Readable): void {
  const { _readableState: state } = readable as unknown as { _readableState: { highWaterMark: number } }
  state.highWaterMark = MARK_BYTES
  const push = readable.push.bind(readable)
  readable.push = (chunk: Buffer | null) => {
    const isReadAtOnce = readable.readableFlowing === true && readable.readableLength === 0
    return push(chunk === null || isReadAtOnce ? chunk : trimmed(chunk))
  }
}

function trimmed(chunk: Buffer): Buffer {
  return chunk.buffer.byteLength > chunk.length * MOST_WASTE ? Buffer.from(chunk) : chunk
}
