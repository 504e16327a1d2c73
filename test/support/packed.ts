import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = process.cwd()
/** All that the package is built from. */
const SOURCES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
  'machines',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'build',
]

/** An empty project into which the packed package is installed. Disposing of it removes it. */
export interface Consumer extends AsyncDisposable {
  readonly directory: string
  readonly tarball: string
  /** The package as it lies in node_modules. */
  readonly packed: string
  /** Names of its dependencies, which are not installed yet. */
  readonly dependencies: readonly string[]
}

/** Packs a copy of the sources, so that nobody else's build is in the way, and unpacks the tarball where `npm install` would. */
export async function installPacked(): Promise<Consumer> {
  const directory = await mkdtemp(join(tmpdir(), 'warren-consumer-'))
  const copy = join(directory, 'sources')
  for (const name of SOURCES) await cp(join(root, name), join(copy, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: copy })
  await rm(copy, { recursive: true })
  const name = (await readdir(directory)).find((each) => each.endsWith('.tgz')) ?? assert.fail('npm pack made no tarball')
  const tarball = join(directory, name)
  const packed = join(directory, 'node_modules/ssh-warren')
  await mkdir(packed, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', packed, '--strip-components=1'])
  const manifest: { dependencies: Record<string, string> } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'))
  return {
    directory,
    tarball,
    packed,
    dependencies: Object.keys(manifest.dependencies),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}
