import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { KnownHostsFile } from '../../src/trust/known-hosts-file.ts'
import { keyOf } from '../../src/trust/line.ts'
import { matchesList } from '../../src/trust/pattern.ts'
import { freshDirectory, makeKey } from './given.ts'

/** `line marker` of each line that `ssh-keygen -F` finds. It lists what it cannot parse no better than we do. */
function keygenFinds(name: string, file: string): string[] {
  const { stdout } = spawnSync('ssh-keygen', ['-F', name, '-f', file], { encoding: 'utf8' })
  const found = stdout.matchAll(/^# Host .* found: line (\d+) ?(REVOKED|CA)?/gm)
  return [...found].map(([, line, marker = '']) => `${line} ${marker}`)
}

async function weFind(name: string, file: string): Promise<string[]> {
  const table = await new KnownHostsFile(file).current()
  const lines = (await table.find(name)).filter((line) => keyOf(line) !== undefined)
  const markers = { '': '', '@revoked': 'REVOKED', '@cert-authority': 'CA' }
  return lines.map(({ source, marker }) => `${source.slice(file.length + 1)} ${markers[marker]}`)
}

const byLine = (lines: string[]) => lines.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))

describe('known_hosts files, against ssh-keygen -F', () => {
  const directory = freshDirectory()
  let key = ''
  before(() => {
    key = makeKey().line
  })

  const compare = async (text: string, names: readonly string[], hash = false) => {
    const file = join(directory(), 'known_hosts')
    writeFileSync(file, text)
    if (hash) execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
    for (const name of names) {
      assert.deepEqual(
        byLine(await weFind(name, file)),
        byLine(keygenFinds(name, file)),
        `${name} in\n${readFileSync(file, 'utf8')}`,
      )
    }
  }

  for (const [what, line, finds, misses] of [
    ['several names', 'alpha,beta,192.0.2.1 KEY', ['alpha', 'beta', '192.0.2.1'], ['alph', 'alpha,beta', '192.0.2.10']],
    ['a port', '[alpha]:2222 KEY', ['[alpha]:2222'], ['alpha', '[alpha]:22', '[alpha]:22222']],
    ['no port', 'alpha KEY', ['alpha'], ['[alpha]:2222']],
    ['an IPv6 address', '2001:db8::1,[2001:db8::1]:2222 KEY', ['2001:db8::1', '[2001:db8::1]:2222'], ['2001:db8::2']],
    ['*', '*.example.com KEY', ['a.example.com', '.example.com', 'a.b.example.com'], ['example.com', 'a.example.com.evil']],
    ['* in brackets', '[10.0.*]:2222 KEY', ['[10.0.0.1]:2222'], ['10.0.0.1', '[10.0.0.1]:22222']],
    ['?', 'gpu-? KEY', ['gpu-7', 'gpu-?'], ['gpu-', 'gpu-77']],
    ['negation', 'gpu-*,!gpu-7,!*.evil KEY', ['gpu-8'], ['gpu-7', 'gpu-8.evil']],
    ['negation before', '!gpu-7,gpu-* KEY', ['gpu-8'], ['gpu-7']],
    ['negation only', '!gpu-7 KEY', [], ['gpu-7', 'gpu-8']],
    ['upper case in the file', 'ALPHA,*.Example.COM KEY', ['alpha', 'a.example.com'], []],
    ['@revoked', '@revoked alpha,* KEY', ['alpha', 'other'], []],
    ['@cert-authority', '@cert-authority *.example.com KEY', ['a.example.com'], ['example.com']],
    ['leading space, tabs and a comment', ' \talpha\tKEY  someone@somewhere and more', ['alpha'], ['someone@somewhere']],
    ['a carriage return', 'alpha KEY\r', ['alpha'], []],
    ['an empty name', 'alpha,,beta KEY', ['alpha', 'beta'], []],
    ['a comment line', '# alpha KEY\n\n   #beta KEY', [], ['#', 'alpha', '#beta', 'beta']],
    ['an unknown marker', '@trusted alpha KEY', [], ['alpha', '@trusted']],
    ['a hash of another kind', '|2|AAAAAAAAAAAAAAAAAAAAAAAAAAA=|AAAAAAAAAAAAAAAAAAAAAAAAAAA= KEY', [], ['alpha']],
  ] as const) {
    it(`finds what there is to find with ${what}`, async () => {
      const text = `zero ${key}\n${line.replaceAll('KEY', key)}\nlast ${key}`
      await compare(text, [...finds, ...misses, 'zero', 'last'])
      const file = join(directory(), 'known_hosts')
      for (const name of finds)
        assert.ok(
          (await weFind(name, file)).some((found) => !found.startsWith('1 ')),
          name,
        )
      for (const name of misses) assert.deepEqual(await weFind(name, file), [], name)
    })
  }

  it('matches many stars in little time, which ssh-keygen does not', () => {
    const pattern = `${'*a'.repeat(40)}*b`
    assert.equal(matchesList(pattern, `${'a'.repeat(250)}b`), true)
    assert.equal(matchesList(pattern, 'a'.repeat(250)), false)
  })

  it('skips lines without a well-formed key and goes on', async () => {
    const [type = '', base64 = ''] = key.split(' ')
    const broken = [
      'alpha',
      `alpha ${type}`,
      `alpha ${type} !!!!`,
      `alpha ${type} ${base64.slice(0, 40)}`,
      `alpha ssh-rsa ${base64}`,
      'alpha 1024 35 12345',
    ]
    const file = join(directory(), 'known_hosts')
    writeFileSync(file, `${broken.join('\n')}\nalpha ${key}\n`)
    assert.deepEqual(await weFind('alpha', file), [`${broken.length + 1} `])
  })

  it('finds names that ssh-keygen -H hashed, each of several keys of a host wherever it stands', async () => {
    const rsa = makeKey('rsa').line
    const names = ['alpha,[beta]:2222', '@revoked gamma', '*.example.com', 'delta', `${'x'.repeat(80)}.y`]
    const text = `${names.map((name) => `${name} ${key}\n`).join('')}ALPHA ${rsa}\n`
    await compare(
      text,
      ['alpha', '[beta]:2222', 'beta', 'gamma', 'a.example.com', 'delta', `${'x'.repeat(80)}.y`, 'epsilon'],
      true,
    )
    const file = join(directory(), 'known_hosts')
    assert.match(readFileSync(file, 'utf8'), /^\|1\|/)
    assert.equal((await weFind('alpha', file)).length, 2)
    assert.equal((await weFind(`${'x'.repeat(80)}.y`, file)).length, 1)
  })

  it('agrees on random patterns', async function () {
    this.timeout(60_000)
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 })
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), minLength: 1, maxLength: 4 })
    const entry = fc.tuple(fc.constantFrom('', '', '', '!'), pattern).map((parts) => parts.join(''))
    const line = fc.array(entry, { minLength: 1, maxLength: 3 }).map((entries) => `${entries.join()} ${key}`)
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 5, maxLength: 20 }),
        fc.array(name, { minLength: 4, maxLength: 4 }),
        async (lines, names) => compare(`${lines.join('\n')}\n`, names),
      ),
      { numRuns: 40 },
    )
  })
})
