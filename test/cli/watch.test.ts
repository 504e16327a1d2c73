import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Origin, startOrigin } from '../support/origin.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { Warren } from './warren.ts'

describe('warren watch', function () {
  this.timeout(60_000)
  let sshd: Sshd
  let origin: Origin
  let directory: string
  let file: string
  let command: Warren

  before(async () => {
    ;[sshd, origin, directory, command] = await Promise.all([
      startSshd(),
      startOrigin(),
      mkdtemp(join(tmpdir(), 'watch-')),
      Warren.build(),
    ])
    file = join(directory, 'targets.yaml')
    const login = `${sshd.user}@127.0.0.1:${sshd.port}`
    await writeFile(
      file,
      `defaults: { identity: ${sshd.keyPath}, hostKey: "${sshd.fingerprint}", to: ${origin.port} }
targets:
  - { host: "${login}", path: /health, label: well }
  - { host: "${login}", path: /status/500, label: ill }
  - { host: "${login}", path: /status/404, expect: "404", label: odd }
`,
    )
  })
  after(() => Promise.all([command.remove(), sshd.close(), origin.close(), rm(directory, { recursive: true, force: true })]))

  it('tells who turns healthy or not, in lines, and ends with 1 by a signal', async () => {
    const program = command.start({}, 'watch', file, '--interval', '0.3', '--timeout', '5')
    try {
      const said = new Set<string>()
      while (said.size < 3) {
        const line = await program.line(20_000)
        const [, name] = / {2}(well is healthy|ill is unhealthy: HTTP 500.*|odd is healthy)$/.exec(line) ?? []
        if (name !== undefined) said.add(name.split(' ')[0] ?? '')
      }
      program.signal('SIGTERM')
      let last = ''
      while (!/checks; 2 healthy, 1 unhealthy, 0 unknown$/.test(last)) last = await program.line()
      assert.equal(await program.exit(), 1)
    } finally {
      await program.kill()
    }
  })

  it('gives each check as JSON, and ends by itself with 0 when all is well', async () => {
    const args = ['--target', `${sshd.user}@127.0.0.1:${sshd.port}`, '--identity', sshd.keyPath, '--host-key', sshd.fingerprint]
    const { code, stdout, stderr } = await command.run(
      'watch',
      ...args,
      ...['--interval', '0.2', '--timeout', '5', '--seconds', '3', '--json'],
    )
    assert.equal(code, 0, stderr)
    const facts = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; ok: boolean })
    assert.ok(facts.length >= 3)
    assert.ok(facts.every(({ id, ok }) => ok && id === `${sshd.user}@127.0.0.1:${sshd.port}`))
  })

  it('refuses a file that makes no sense with 2, its line and column', async () => {
    const wrong = join(directory, 'wrong.yaml')
    await writeFile(wrong, 'targets:\n  - { host: a, paht: x }\n')
    const { code, stderr } = await command.run('watch', wrong)
    assert.equal(code, 2)
    assert.match(stderr, /wrong\.yaml:2:\d+: unknown key `paht`; did you mean `path`\?/)
    assert.equal((await command.run('watch')).code, 2)
  })
})
