import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Program } from '../owners/program.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { Warren } from './warren.ts'

interface News {
  readonly event: string
  readonly endpoint?: string
  readonly text: string
}

describe('warren up', function () {
  this.timeout(60_000)
  let sshd: Sshd
  let origin: Origin
  let directory: string
  let command: Warren

  before(async () => {
    ;[sshd, origin, directory, command] = await Promise.all([
      startSshd(),
      startOrigin(),
      mkdtemp(join(tmpdir(), 'up-')),
      Warren.build(),
    ])
  })
  after(() => Promise.all([command.remove(), sshd.close(), origin.close(), rm(directory, { recursive: true, force: true })]))

  const login = () => [`${sshd.user}@127.0.0.1:${sshd.port}`, '--identity', sshd.keyPath, '--json']
  const status = (socketPath: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      get({ socketPath, path: '/health', agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      }).on('error', reject)
    })
  async function heard(program: Program, event: string): Promise<News> {
    for (;;) {
      const news = JSON.parse(await program.line(20_000)) as News
      if (news.event === event) return news
    }
  }

  it('keeps an endpoint at its address over restarts, tells systemd, and ends cleanly by a signal', async () => {
    const path = join(directory, 's')
    const told = join(directory, 'told')
    await writeFile(join(directory, 'systemd-notify'), `#!/bin/sh\necho "$@" >>${told}\n`, { mode: 0o755 })
    const env = { PATH: `${directory}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/nobody' }
    const program = command.start(env, 'up', ...login(), '--host-key', sshd.fingerprint, '-L', `${path}:127.0.0.1:${origin.port}`)
    try {
      assert.equal((await heard(program, 'listening')).endpoint, path)
      await heard(program, 'ready')
      assert.equal(await status(path), 200)
      for (let round = 0; round < 2; round += 1) {
        sshd.killSessions()
        await heard(program, 'down')
        await heard(program, 'up')
        assert.equal(await status(path), 200)
      }
      await until(() => existsSync(told) && /--ready/.test(readFileSync(told, 'utf8')))
      program.signal('SIGTERM')
      await heard(program, 'closed')
      assert.equal(await program.exit(), 0)
      assert.match(readFileSync(told, 'utf8'), /^--pid=\d+ --ready [\s\S]*--stopping/)
      assert.equal(existsSync(path), false)
    } finally {
      await program.kill()
    }
  })

  it('has the server listen, and speaks SOCKS5', async () => {
    const socks = join(directory, 'socks')
    const remote = join(directory, 'remote')
    const args = ['-R', `${remote}:127.0.0.1:${origin.port}`, '-D', socks]
    const program = command.start({}, 'up', ...login(), '--host-key', sshd.fingerprint, ...args)
    try {
      await heard(program, 'ready')
      assert.equal(await status(remote), 200)
      assert.ok(existsSync(socks))
      program.signal('SIGINT')
      assert.equal(await program.exit(), 0)
      assert.equal(existsSync(socks), false)
    } finally {
      await program.kill()
    }
  })

  it('ends with 1 and the remedy when the host’s key is another', async () => {
    const wrong = `SHA256:${'A'.repeat(43)}`
    const program = command.start({}, 'up', ...login(), '--host-key', wrong, '-L', `${join(directory, 'w')}:127.0.0.1:1`)
    try {
      assert.match((await heard(program, 'barred')).text, /--host-key SHA256:/)
      assert.equal(await program.exit(), 1)
    } finally {
      await program.kill()
    }
  })

  it('refuses what makes no sense with 2', async () => {
    for (const args of [[], ['-L', '8080'], ['-L', 'a:b:c'], ['-D', '127.0.0.1:0'], ['-R', '1:2:3:4:5:6']]) {
      const { code, stderr } = await command.run('up', ...login(), '--host-key', sshd.fingerprint, ...args)
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    }
  })

  it('says in its own words what a SOCKS5 port needs, and that a path is absolute', async () => {
    const run = async (...args: string[]) => await command.run('up', ...login(), '--host-key', sshd.fingerprint, ...args)
    const dynamic = await run('-D', '0')
    assert.equal(dynamic.code, 2)
    assert.equal(dynamic.stdout, '')
    assert.match(dynamic.stderr, /-D 0: .*WARREN_SOCKS_USER.*--insecure/)
    assert.match((await run('-L', './here:80')).stderr, /absolute path/)
  })
})
