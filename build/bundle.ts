import { readFile } from 'node:fs/promises'
import { build } from 'esbuild'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Bundles each entry that package.json names into dist; what it names as a dependency stays outside, all else goes in. */
const { exports, bin, dependencies, peerDependencies }: Manifest = JSON.parse(await readFile('package.json', 'utf8'))
const files = [
  ...Object.values(exports).map((entry) => (typeof entry === 'string' ? entry : entry.default)),
  ...Object.values(bin),
]
const sources = files.flatMap((file) => /^(?:\.\/)?dist\/(.*)\.js$/.exec(file)?.[1] ?? [])
await build({
  entryPoints: sources.map((source) => `${source}.ts`),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: [...Object.keys(dependencies), ...Object.keys(peerDependencies)],
  outdir: 'dist',
  outbase: '.',
  minifyWhitespace: true,
  sourcemap: true,
  logLevel: 'warning',
})
