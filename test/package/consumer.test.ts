import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Consumer, installPacked } from '../support/packed.ts'

const run = promisify(execFile)
const root = process.cwd()
const tsc = join(root, 'node_modules/typescript/bin/tsc')

const STRICT = {
  target: 'ES2022',
  lib: ['ES2023', 'ESNext.Disposable'],
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  types: ['node'],
}

/** The TypeScript blocks of a page, each a module of its own. */
async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => `${code}\nexport {}\n`)
}

async function compile(directory: string, files: readonly string[], skipLibCheck: boolean): Promise<void> {
  const config = join(directory, `tsconfig.${skipLibCheck}.json`)
  await writeFile(config, JSON.stringify({ compilerOptions: { ...STRICT, skipLibCheck }, files }))
  await run(process.execPath, [tsc, '-p', config], { cwd: directory }).catch(({ stdout }: { stdout: string }) => {
    assert.fail(`does not compile:\n${stdout}`)
  })
}

describe('the packed tarball in a project of its own', function () {
  this.timeout(120_000)
  let consumer: Consumer
  let directory: string
  let packed: string

  before(async () => {
    consumer = await installPacked()
    directory = consumer.directory
    packed = consumer.packed
    // What `npm install` would bring, from here: the registry is not asked twice.
    await mkdir(join(directory, 'node_modules/@types'))
    for (const name of [...consumer.dependencies, '@types/node', 'mocha', 'prom-client', 'tdigest', '@opentelemetry']) {
      await symlink(join(root, 'node_modules', name), join(directory, 'node_modules', name))
    }
    await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }))
  })

  after(() => consumer[Symbol.asyncDispose]())

  it('holds what it needs and nothing else', async () => {
    assert.deepEqual((await readdir(packed)).sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist',
      'package.json',
    ])
  })

  it('type-checks with every strictness and without skipLibCheck, as does each block of the README and of docs', async () => {
    const files: string[] = []
    for (const page of ['README.md', ...(await readdir(join(root, 'docs'))).map((name) => `docs/${name}`)]) {
      if (!page.endsWith('.md')) continue
      const blocks = await blocksOf(page)
      if (page === 'README.md') assert.ok(blocks.length >= 3, 'the README shows no code')
      for (const [index, block] of blocks.entries()) {
        const file = `${page.replaceAll(/\W/g, '-')}-${index}.ts`
        files.push(file)
        await writeFile(join(directory, file), block)
      }
    }
    await compile(directory, files, false)
  })

  it('type-checks the machines with skipLibCheck, which xstate itself needs', async () => {
    await writeFile(
      join(directory, 'machines.ts'),
      `import { tunnelMachine, destinationMachine, poolMachine } from 'ssh-warren/machines'\nexport const ids: string[] = [tunnelMachine.id, destinationMachine.id, poolMachine.id]\n`,
    )
    await compile(directory, ['machines.ts'], true)
  })

  for (const [page, said] of [
    ['README.md', /HTTP\/1\.[01] 200 OK[\s\S]*ok/],
    ['docs/testing.md', /^ERR_LOST$/m],
  ] as const) {
    it(`runs: the leak test of ${page} against an embedded fleet`, async () => {
      const block = (await blocksOf(page)).find((code) => code.includes('assertNoLeaks'))
      assert.ok(block)
      const [source, bundled] = [join(directory, 'run.ts'), join(directory, 'run.mjs')]
      const esbuild = join(root, 'node_modules/esbuild/bin/esbuild')
      await writeFile(source, block)
      await run(esbuild, [source, '--format=esm', '--target=node20', `--outfile=${bundled}`, '--log-level=error'])
      const { stdout } = await run(process.execPath, [bundled], { cwd: directory, timeout: 30_000 })
      assert.match(stdout, said)
    })
  }

  it('its command runs', async () => {
    const { stdout } = await run(process.execPath, [join(packed, 'dist/src/cli/main.js'), 'demo', '--plain', '--seconds', '2'], {
      cwd: directory,
    })
    assert.match(stdout, /Nothing is left\.\n$/)
  })

  for (const [runner, command, file, count] of [
    ['mocha', ['node_modules/mocha/bin/mocha.js'], 'mocha.test.mjs', /2 passing/],
    [
      'mocha',
      ['node_modules/mocha/bin/mocha.js', '--require', './node_modules/ssh-warren/dist/src/testing/mocha.js'],
      'root-hooks.test.mjs',
      /1 passing/,
    ],
    ["Node's runner", ['--test'], 'node.test.mjs', /# pass 1\b[\s\S]*# fail 0/],
  ] as const) {
    it(`tests a small server with ssh-warren/testing in ${runner}: ${file}`, async () => {
      await cp(join(root, 'examples/testing'), join(directory, 'testing'), { recursive: true })
      const { stdout } = await run(process.execPath, [...command, `testing/${file}`], { cwd: directory })
      assert.match(stdout, count)
    })
  }

  it('loads neither ssh2 nor commander nor winston when it is only imported', async () => {
    const script = `import 'ssh-warren'\nconst { createRequire } = await import('node:module')\nconst loaded = Object.keys(createRequire(import.meta.url).cache)\nconsole.log(loaded.filter((f) => /node_modules.(ssh2|commander|winston|tmp|yaml|cli-table3|log-update)/.test(f)).length)\n`
    await writeFile(join(directory, 'import.mjs'), script)
    const { stdout } = await run(process.execPath, ['import.mjs'], { cwd: directory })
    assert.equal(stdout.trim(), '0')
  })
})
