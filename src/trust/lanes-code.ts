type Code = readonly number[]

/** Bytes of one group of four lines: eleven words of each, word by word. */
export const GROUP_BYTES = 11 * 16

const ROUND_CONSTANTS = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6]
const OUTER_BITS = (64 + 20) * 8

// Locals: three parameters, then vectors.
const [NAME, AT, END] = [0, 1, 2]
const STATE = 3
const WORDS = 8
const ROUND_CONSTANT = 24
const SCRATCH = 28
const VECTORS = 26

const unsigned = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)])
const signed = (n: number): number[] => (n >= -64 && n < 64 ? [n & 127] : [(n & 127) | 128, ...signed(n >> 7)])
const get = (local: number): Code => [0x20, local]
const set = (local: number): Code => [0x21, local]
const tee = (local: number): Code => [0x22, local]
const number = (n: number): Code => [0x41, ...signed(n | 0)]
const vector = (op: number, ...rest: number[]): Code => [0xfd, ...unsigned(op), ...rest]
const load = (offset: number): Code => [...get(AT), ...vector(0x00, 4, ...unsigned(offset))]
const loadNameWord = (i: number): Code => [...get(NAME), ...vector(0x09, 2, ...unsigned(i * 4))]
const [SPLAT, EQUAL, XOR, SELECT, ANY, ADD, SHIFT_LEFT, SHIFT_RIGHT, OR] = [
  0x11, 0x37, 0x51, 0x52, 0x53, 0xae, 0xab, 0xad, 0x50,
].map((op) => vector(op)) as [Code, Code, Code, Code, Code, Code, Code, Code, Code]
const fill = (n: number): Code => [...number(n), ...SPLAT]
const rotated = (local: number, bits: number): Code => [
  ...[...get(local), ...number(bits), ...SHIFT_LEFT],
  ...[...get(local), ...number(32 - bits), ...SHIFT_RIGHT, ...OR],
]

/** SHA-1's 80 rounds over four states at once; the five state locals are renamed by each round instead of moved. */
function rounds(word: (round: number) => Code): Code {
  const code: number[] = []
  const names = [0, 1, 2, 3, 4].map((i) => STATE + i)
  for (let round = 0; round < 80; round++) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = names
    const parity = [...get(b), ...get(c), ...XOR, ...get(d), ...XOR]
    const choice = [...get(c), ...get(d), ...get(b), ...SELECT]
    const majority = [...get(c), ...get(b), ...get(b), ...get(d), ...XOR, ...SELECT]
    const mix = [choice, parity, majority, parity][Math.floor(round / 20)] ?? []
    code.push(
      ...word(round),
      ...get(e),
      ...ADD,
      ...mix,
      ...ADD,
      ...rotated(a, 5),
      ...ADD,
      ...set(e),
      ...rotated(b, 30),
      ...set(b),
    )
    names.unshift(...names.splice(4))
  }
  return code
}

/** A word of the outer hash, whose block is the inner digest: expanded as the rounds go, in a ring of sixteen. */
function outerWord(round: number): Code {
  const at = (i: number) => WORDS + (i & 15)
  const mixed = [...get(at(round - 3)), ...get(at(round - 8)), ...XOR, ...get(at(round - 14)), ...XOR, ...get(at(round)), ...XOR]
  const expanded = round < 16 ? get(at(round)) : [...mixed, ...set(SCRATCH), ...rotated(SCRATCH, 1), ...tee(at(round))]
  return [...expanded, ...get(ROUND_CONSTANT + Math.floor(round / 20)), ...ADD]
}

const five = (code: (i: number) => Code): Code => [0, 1, 2, 3, 4].flatMap((i) => [...code(i)])

function body(): Code {
  return [
    ...ROUND_CONSTANTS.flatMap((n, i) => [...fill(n), ...set(ROUND_CONSTANT + i)]),
    ...[0x02, 0x40, 0x03, 0x40], // block, loop
    ...[...get(AT), ...get(END), 0x4f, 0x0d, 1], // at >= end: leave
    ...five((i) => [...load(i * 16), ...set(STATE + i)]),
    ...rounds(loadNameWord),
    ...five((i) => [...get(STATE + i), ...load(i * 16), ...ADD, ...set(WORDS + i)]),
    ...[0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, OUTER_BITS].flatMap((n, i) => [...fill(n), ...set(WORDS + 5 + i)]),
    ...five((i) => [...load((5 + i) * 16), ...set(STATE + i)]),
    ...rounds(outerWord),
    ...[...get(STATE), ...load(10 * 16), ...EQUAL, ...ANY, 0x0d, 1], // a hit in any lane: leave
    ...[...get(AT), ...number(GROUP_BYTES), 0x6a, ...set(AT), 0x0c, 0, 0x0b, 0x0b], // next group
    ...[...get(AT), 0x0b],
  ]
}

/**
 * A WebAssembly module that computes HMAC-SHA1 of one name under the salts of four lines at a time. It imports `memory.lines` and
 * exports `seek(name, at, end)`: the address of the first group from `at` on with a line whose digest may be the name's, else
 * `end`.
 */
export function lanesCode(): Uint8Array {
  const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content]
  const text = (word: string): Code => [word.length, ...Buffer.from(word)]
  const I32 = 0x7f
  const code = [1, VECTORS, 0x7b, ...body()]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 3, I32, I32, I32, 1, I32]),
    ...section(2, [1, ...text('memory'), ...text('lines'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('seek'), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ])
}
