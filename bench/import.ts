import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { median, millis, report, times } from './measure.ts'

/** `npx tsx bench/import.ts`: importing the package as it is published, against xstate alone, alternately, each in a process of its own. */
const ROUNDS = 15
const directory = mkdtempSync(join(process.cwd(), '.bench-import-'))
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }
try {
  await build({
    entryPoints: ['src/index.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    external: [...Object.keys(manifest.dependencies), 'undici'],
    outdir: directory,
    logLevel: 'error',
  })
  const take = (what: string) =>
    Number(
      execFileSync(process.execPath, [
        '--input-type=module',
        '-e',
        `const t = performance.now(); await import(${JSON.stringify(what)}); process.stdout.write(String(performance.now() - t))`,
      ]),
    )
  const ours = pathToFileURL(join(directory, 'index.js')).href
  const taken = { ours: [] as number[], xstate: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    taken.ours.push(take(ours))
    taken.xstate.push(take('xstate'))
  }
  const ratio = median(taken.ours) / median(taken.xstate)
  report({
    bench: 'import',
    measure: 'importing the package against xstate alone',
    value: `${millis(median(taken.ours))} against ${millis(median(taken.xstate))}`,
    ratio: times(ratio),
    goal: '≤ 1.5×',
    isMet: ratio <= 1.5,
  })
} finally {
  rmSync(directory, { recursive: true })
}
