import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import type { Row } from './measure.ts'

/**
 * `npm run bench [name …]`: every bench one after the other, each in a process of its own, with progress; writes bench/RESULTS.md and bench/checks.svg.
 * Each also runs alone, as its head says. Wants a quiet machine: what is compared is measured side by side, but medians need quiet, too.
 */
const BENCHES: Readonly<Record<string, readonly string[]>> = {
  checks: ['bench/checks.ts', '10'],
  acquire: ['bench/acquire.ts', '1000'],
  'acquire-10000': ['bench/acquire.ts', '10000'],
  open: ['bench/spine.ts', '100'],
  'open-openssh': ['bench/openssh-open.ts', '20'],
  wan: ['bench/wan.ts', '30'],
  import: ['bench/import.ts'],
  'scale-100': ['bench/scale.ts', '100', '12'],
  'scale-1000': ['bench/scale.ts', '1000', '12'],
  'scale-10000': ['bench/scale.ts', '10000', '24'],
}
const LONGEST_MILLIS = 300_000

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in BENCHES))
if (unknown.length > 0) throw new Error(`no bench named ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
const names = chosen.length > 0 ? chosen : Object.keys(BENCHES)
const directory = mkdtempSync(join(tmpdir(), 'warren-bench-'))
const rowsFile = join(directory, 'rows')
const began = performance.now()
const failed: string[] = []
const said: string[] = []
for (const [index, name] of names.entries()) {
  process.stderr.write(`[${index + 1}/${names.length}] ${name}, ${Math.round((performance.now() - began) / 1_000)} s so far\n`)
  const child = spawn(
    process.execPath,
    ['--import', './test/support/typescript/register.js', '--expose-gc', ...(BENCHES[name] ?? [])],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: LONGEST_MILLIS,
      env: { ...process.env, WARREN_BENCH_ROWS: rowsFile },
    },
  )
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk)
    if (name.startsWith('open')) said.push(String(chunk))
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) failed.push(`${name} (${code})`)
}
const rows = existsSync(rowsFile)
  ? readFileSync(rowsFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)
  : []
rmSync(directory, { recursive: true })

const version = (name: string) =>
  (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version
const isNative = existsSync('node_modules/ssh2/lib/protocol/crypto/build/Release/sshcrypto.node')
const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${memory}, ${process.platform} ${release()}`
const versions = ['ssh2', 'xstate', 'undici', 'tunnel-ssh', 'tarn', 'generic-pool'].map((name) => `${name} ${version(name)}`)
const cell = (text: string) => text.replaceAll('|', '\\|')
const lines = rows.map(({ bench, measure, value, ratio, goal, isMet }) => {
  const verdict = goal === undefined ? '' : `${goal}: ${isMet === true ? 'met' : '**missed**'}`
  return `| ${[bench, measure, value, ratio ?? '', verdict].map(cell).join(' | ')} |`
})
const text = `# Results

${new Date().toISOString().slice(0, 10)}, ${machine}. Node ${process.version}, ${versions.join(', ')}; ssh2 ${isNative ? 'with its native binding' : 'without its native binding (pure JS)'}.
Servers, clients and hosts share the machine: ratios, measured side by side, are what to use. Made by \`npm run bench\`.

| bench | measure | value | against | goal |
|---|---|---|---|---|
${lines.join('\n')}
${said.length > 0 ? `\n\`\`\`\n${said.join('').trim()}\n\`\`\`\n` : ''}${failed.length > 0 ? `\nDid not finish: ${failed.join(', ')}.\n` : ''}`
writeFileSync('bench/RESULTS.md', text)
const bars = rows.flatMap(({ measure, chart }) => (chart === undefined ? [] : [{ name: measure, ...chart }]))
if (bars.length > 0) writeFileSync('bench/checks.svg', chartOf(bars))
process.stderr.write(`${rows.length} results in ${Math.round((performance.now() - began) / 1_000)} s: bench/RESULTS.md\n`)
process.exitCode = failed.length > 0 ? 1 : 0
