import { GROUP_BYTES, lanesCode } from './lanes-code.ts'
import type { HashedName } from './line.ts'
import { padState } from './sha1.ts'

/** Lines that are tried at once. */
export const LANES = 4
const PAGE_BYTES = 65_536
const NAME_BYTES = 80 * 4
const GROUP_WORDS = GROUP_BYTES / 4

interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}
/** Neither ES2023 nor Node's own types declare it. */
interface Engine {
  Memory: new (size: { initial: number }) => Memory
  Module: new (code: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: { seek(name: number, at: number, end: number): number } }
}

/**
 * Hashed lines laid out for trying a name against four at a time: 0.07 µs per line, where node:crypto takes 2.6 and plain
 * JavaScript 0.33. It only narrows the search; whoever uses it asks node:crypto whether a line found here is the name's.
 */
export class Lanes {
  readonly #memory: Memory
  readonly #seek: (name: number, at: number, end: number) => number

  /** Throws where there is no WebAssembly with SIMD (`--jitless`, very old processors) or no address space left for it. */
  constructor() {
    const { WebAssembly } = globalThis as unknown as { WebAssembly: Engine }
    this.#memory = new WebAssembly.Memory({ initial: 1 })
    const module = new WebAssembly.Module(lanesCode())
    this.#seek = new WebAssembly.Instance(module, { memory: { lines: this.#memory } }).exports.seek
  }

  /** Puts a line in its place, making room as needed. */
  write(line: number, { salt, digest }: HashedName): void {
    const missing = NAME_BYTES + (Math.floor(line / LANES) + 1) * GROUP_BYTES - this.#memory.buffer.byteLength
    if (missing > 0) this.#memory.grow(Math.ceil((missing + this.#memory.buffer.byteLength / 2) / PAGE_BYTES))
    const outer = padState(salt, 0x5c)
    // The digest's first word, less what SHA-1 adds at its end: then nothing needs adding when it is compared.
    const words = [...padState(salt, 0x36), ...outer, digest.readInt32BE(0) - (outer[0] ?? 0)]
    const memory = this.#words()
    for (const [word, value] of words.entries()) memory[wordOf(line, word)] = value
  }

  /** Copies a line to another place. */
  move(from: number, to: number): void {
    const memory = this.#words()
    for (let word = 0; word < GROUP_WORDS / LANES; word++) memory[wordOf(to, word)] = memory[wordOf(from, word)] ?? 0
  }

  /** The first group in `[from, to)` with a line that may be the name's, else `to`; `name` is from `nameWords`. */
  seek(name: Int32Array, from: number, to: number): number {
    this.#words().set(name)
    return (this.#seek(0, NAME_BYTES + from * GROUP_BYTES, NAME_BYTES + to * GROUP_BYTES) - NAME_BYTES) / GROUP_BYTES
  }

  /** Growing replaces the buffer. */
  #words(): Int32Array {
    return new Int32Array(this.#memory.buffer)
  }
}

function wordOf(line: number, word: number): number {
  return NAME_BYTES / 4 + Math.floor(line / LANES) * GROUP_WORDS + word * LANES + (line % LANES)
}
