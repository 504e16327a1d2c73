import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Consumer, installPacked } from '../support/packed.ts'

const run = promisify(execFile)
const root = process.cwd()
const bin = (name: string) => join(root, 'node_modules/.bin', name)

/** What a strict tool says, which is nothing when all is well. */
async function complaints(command: string, args: readonly string[], cwd: string): Promise<string> {
  return await run(command, [...args], { cwd }).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  )
}

/** The line that a page tells users to put before a bundle of ES modules. */
async function bannerOf(page: string): Promise<string> {
  const text = await readFile(join(root, page), 'utf8')
  return /^```js\n(.+)\n```$/m.exec(text)?.[1] ?? assert.fail(`${page} shows no banner`)
}

const APP = `
import { createTunnelPool } from 'ssh-warren'
import { startFleet } from 'ssh-warren/testing'
void (async () => {
  const fleet = await startFleet()
  const pool = createTunnelPool({ maxTunnels: 2 })
  const [target] = fleet.targets
  const { stdout, exitCode } = await pool.use(target, (lease) => lease.exec('echo out; exit 3'))
  console.log(JSON.stringify([String(stdout), exitCode]))
  await pool.close()
  await fleet.close()
})()
`

describe('the packed tarball', function () {
  this.timeout(120_000)
  let consumer: Consumer
  let directory: string

  before(async () => {
    consumer = await installPacked()
    directory = consumer.directory
    for (const name of consumer.dependencies) {
      if (name !== 'ssh2') await symlink(join(root, 'node_modules', name), join(directory, 'node_modules', name))
    }
    // As npm 11 installs them: without their install scripts, so that there is no native binding to bundle.
    for (const name of ['ssh2', 'asn1', 'bcrypt-pbkdf', 'safer-buffer', 'tweetnacl']) {
      const to = join(directory, 'node_modules', name)
      await cp(join(root, 'node_modules', name), to, { recursive: true, filter: (path) => !path.endsWith('/build') })
    }
    await writeFile(join(directory, 'app.mjs'), APP)
  })

  after(() => consumer[Symbol.asyncDispose]())

  it('is clean for publint', async () => {
    assert.equal(await complaints(bin('publint'), ['run', consumer.packed, '--strict', '--pack', 'false'], directory), '')
  })

  it('has types for every entry and every way to resolve it that Node 20.19 has', async () => {
    assert.equal(await complaints(bin('attw'), [consumer.tarball, '--profile', 'esm-only'], directory), '')
  })

  it('can be required: Node 20.19 and newer load an ES module so', async () => {
    const script = `const { createTunnelPool, TunnelError } = require('ssh-warren'); console.log(typeof createTunnelPool, typeof TunnelError)`
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: directory })
    assert.equal(stdout, 'function function\n')
  })

  for (const [format, extension] of [
    ['esm', 'mjs'],
    ['cjs', 'cjs'],
  ] as const) {
    it(`runs in a bundle (${format}) as it runs without`, async () => {
      const out = join(directory, `bundle.${extension}`)
      const banner = await bannerOf('docs/embed.md')
      const args = ['app.mjs', '--bundle', '--platform=node', `--format=${format}`, `--outfile=${out}`, '--log-level=error']
      await run(bin('esbuild'), format === 'esm' ? [...args, `--banner:js=${banner}`] : args, { cwd: directory })
      const { stdout } = await run(process.execPath, [out], { cwd: tmpdir(), timeout: 30_000 })
      assert.equal(stdout, '["out\\n",3]\n')
    })
  }
})
