import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** The ids of the catalogue, in its order; they have gaps. */
const IDS =
  '01 02 04 05 06 08 09 12 13 14 16 17 18 20 21 22 24 26 27 30 32 34 35 36 37 38 39 41 43 44 46 47 48 50 51 53 57 58 59 61 63 65 67 68 69 70 72 74 75 76 78 79 80 82 83 85 86 87 90 91 92'
    .split(' ')
    .map((id) => `B${id}`)
const PEERS = 26

describe('the catalogue of faults', () => {
  const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  const rows = page.split('\n').filter((line) => line.includes('`test/') && line.includes('“'))
  const own = rows.filter((row) => /^\| B\d/.test(row))

  it('has every case once, and every bug of a peer', () => {
    assert.deepEqual(
      own.map((row) => row.slice(2, 5)),
      IDS,
    )
    assert.equal(rows.length - own.length, PEERS)
  })

  it('names tests that exist', () => {
    const gone: string[] = []
    for (const row of rows) {
      const tests = [...row.matchAll(/`(test\/[^`]+)` “([^”]+)”/g)]
      assert.ok(tests.length > 0, row)
      for (const [, file = '', title = ''] of tests)
        if (!readFileSync(join(ROOT, file), 'utf8').includes(title.replaceAll('&#124;', '|'))) gone.push(`${file}: ${title}`)
    }
    assert.deepEqual(gone, [])
  })
})
