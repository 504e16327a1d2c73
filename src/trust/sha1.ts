const CONSTANTS = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6]
const START = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0)
const BLOCK_BYTES = 64

/** The longest text that, after HMAC's pad block, still fits one SHA-1 block with its padding. */
export const LONGEST_NAME_BYTES = 55

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits))

/** One SHA-1 compression; `words` is a block as `expand` gives it. */
function compress(state: Int32Array, words: Int32Array): Int32Array {
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state
  for (let i = 0; i < 80; i++) {
    const mix = i < 20 ? d ^ (b & (c ^ d)) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (d & (b | c))
    const next = (rotate(a, 5) + mix + e + (words[i] ?? 0)) | 0
    e = d
    d = c
    c = rotate(b, 30)
    b = a
    a = next
  }
  const ends = [a, b, c, d, e]
  return state.map((word, i) => word + (ends[i] ?? 0))
}

/** A block's 80 words, the constant of each round already added: it is the same for every hashed line a name is tried against. */
function expand(block: Buffer): Int32Array {
  const words = new Int32Array(80)
  for (let i = 0; i < 16; i++) words[i] = block.readInt32BE(i * 4)
  for (let i = 16; i < 80; i++) {
    words[i] = rotate((words[i - 3] ?? 0) ^ (words[i - 8] ?? 0) ^ (words[i - 14] ?? 0) ^ (words[i - 16] ?? 0), 1)
  }
  for (let i = 0; i < 80; i++) words[i] = (words[i] ?? 0) + (CONSTANTS[Math.floor(i / 20)] ?? 0)
  return words
}

/** SHA-1's state after HMAC's pad block, for one key of at most 64 bytes. */
export function padState(key: Buffer, pad: 0x36 | 0x5c): Int32Array {
  const block = Buffer.alloc(BLOCK_BYTES, pad)
  for (const [i, byte] of key.entries()) block[i] = byte ^ pad
  return compress(START, expand(block))
}

/** The second and last block of HMAC's inner hash of a text of at most `LONGEST_NAME_BYTES`, expanded. */
export function nameWords(name: Buffer): Int32Array {
  const block = Buffer.alloc(BLOCK_BYTES)
  name.copy(block)
  block[name.length] = 0x80
  block.writeUInt32BE((BLOCK_BYTES + name.length) * 8, BLOCK_BYTES - 4)
  return expand(block)
}
