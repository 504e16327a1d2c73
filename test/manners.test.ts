import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { codeOf, files, sources } from './sources.ts'

/** Imported names, and calls, by which something comes into being that somebody has to free. */
const MAKES: ReadonlyArray<[what: string, pattern: RegExp]> = [
  [
    'a process',
    /\b(?:spawn|fork|execFile|spawnSync|execSync|execFileSync)\s*\(|from 'node:(?:child_process|cluster|worker_threads)'/,
  ],
  [
    'a connection',
    /\b(?:net|tls|http|https|dgram)\.(?:connect|createConnection|createSocket)\s*\(|import \{[^}]*\b(?:connect|createConnection|createSocket)\b[^}]*\} from 'node:(?:net|tls|http2|dgram)'/,
  ],
  ['a listener', /\bcreateServer\s*\(|new (?:net\.)?Server\b/],
  ['a socket', /new (?:net\.)?Socket\s*\(/],
  ['an ssh2 client', /new (?:ssh2\.)?Client\s*\(/],
  ['a directory', /\b(?:mkdir|mkdirSync|mkdtemp|mkdtempSync)\s*\(|\btmp\.\w+|from 'tmp'/],
]
/** Test beds make what they like. */
const isExempt = (file: string) => file.startsWith('src/owners/') || file.startsWith('src/testing/')

describe('architecture: who makes what has to be freed', () => {
  for (const [what, pattern] of MAKES) {
    it(`${what}: owners only`, () => {
      assert.deepEqual(
        files.filter((file) => !isExempt(file) && pattern.test(codeOf(file))),
        [],
      )
    })
  }

  it('is found where it is made', () => {
    const makers = (pattern: RegExp) => files.filter((file) => isExempt(file) && pattern.test(codeOf(file)))
    for (const [what, pattern] of MAKES.filter(([what]) => !/process|a socket/.test(what)))
      assert.ok(makers(pattern).length > 0, what)
  })

  it('a timer: the clock, the hold and owners only', () => {
    // A socket's own idle time, cleared with it; pauses of a file's lock, ended by their signal; the one timer of a monitor, which may hold the process.
    const allowed =
      /^src\/(owners|testing|cli|api|observe\/page)\/|^src\/(clock|actors\/hold|channels\/socket|trust\/lock|trust\/pace|monitor\/timetable)\.ts$/
    assert.deepEqual(
      files.filter(
        (file) => !allowed.test(file) && /(?<![.\w])(?:setTimeout|setInterval)\s*\(|from 'node:timers/.test(codeOf(file)),
      ),
      [],
    )
  })
})

describe('architecture: manners', () => {
  const lines = [...sources].map(([file, text]) => [file, text.split('\n').length - 1] as const)

  it('no file over 250 lines, half of them under 90', () => {
    assert.deepEqual(
      lines.filter(([, count]) => count > 250),
      [],
    )
    const counts = lines.map(([, count]) => count).sort((a, b) => a - b)
    assert.ok((counts[Math.floor(counts.length / 2)] ?? 0) < 90)
  })

  it('no file is named after what everything is', () => {
    const vague = /^(?:.*-)?(?:manager|helpers?|utils?|base|impl|common|misc|handler|process)\.ts$/i
    assert.deepEqual(
      files.filter((file) => vague.test(basename(file))),
      [],
    )
  })

  it('no error is swallowed without a word', () => {
    const silent = /catch\s*(?:\([^)]*\)\s*)?\{\s*\}/
    assert.deepEqual(
      files.filter((file) => silent.test(sources.get(file) ?? '')),
      [],
    )
  })

  it('no number is a default by ||, which makes 0 impossible', () => {
    assert.deepEqual(
      files.filter((file) => /\|\|\s*\d/.test(codeOf(file))),
      [],
    )
  })

  it('every export says what it is for, but a type that says it all', () => {
    const bare = files.flatMap((file) => {
      const text = sources.get(file) ?? ''
      const exported = [...text.matchAll(/^export (?:async )?(?:function|class|abstract class)\s+(\w+)/gm)]
      return exported.filter(({ index }) => !/\*\/\s*$/.test(text.slice(0, index))).map(([, name]) => `${file}: ${name}`)
    })
    assert.deepEqual(bare, [])
  })
})
