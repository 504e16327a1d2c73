import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'

const BLOCK_BYTES = 256 * 1024
const BLOCK = randomBytes(2 * BLOCK_BYTES)

/** Bytes that went one way: how many, and their SHA-256. */
export interface Passed {
  readonly bytes: number
  readonly digest: string
}

/** Writes `bytes` random ones, as fast as the other side takes them, and then ends. */
export async function send(stream: Duplex, bytes: number): Promise<Passed> {
  const hash = createHash('sha256')
  for (let left = bytes; left > 0; ) {
    const at = left % BLOCK_BYTES
    const block = BLOCK.subarray(at, at + Math.min(left, BLOCK_BYTES))
    left -= block.length
    hash.update(block)
    if (!stream.write(block)) await once(stream, 'drain')
  }
  stream.end()
  return { bytes, digest: hash.digest('hex') }
}

/** Reads until the end; rejects when it breaks before. */
export function receive(stream: Duplex): Promise<Passed> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256')
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      hash.update(chunk)
    })
    stream.once('end', () => resolve({ bytes, digest: hash.digest('hex') }))
    stream.once('error', reject)
  })
}
