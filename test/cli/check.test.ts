import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit, type Tarpit } from '../support/tarpit.ts'
import { type Run, Warren } from './warren.ts'

/** Against a plain sshd: its own sshd_config, nothing of ours on its side. */
describe('warren check', function () {
  this.timeout(60_000)
  let sshd: Sshd
  let origin: Origin
  let tarpit: Tarpit
  let directory: string
  let command: Warren
  let login: string
  let trusted: string[]

  before(async () => {
    ;[sshd, origin, tarpit, directory, command] = await Promise.all([
      startSshd(),
      startOrigin(),
      startTarpit(),
      mkdtemp(join(tmpdir(), 'warren-check-')),
      Warren.build(),
    ])
    login = `${sshd.user}@127.0.0.1:${sshd.port}`
    trusted = [login, '--identity', sshd.keyPath, '--host-key', sshd.fingerprint]
  })
  after(async () => {
    await Promise.all([
      command.remove(),
      sshd.close(),
      origin.close(),
      tarpit.close(),
      rm(directory, { recursive: true, force: true }),
    ])
  })

  const warren = (...args: string[]) => command.run(...args)
  const says = (run: Run, code: number, ...texts: RegExp[]) => {
    assert.equal(run.code, code, `${run.stdout}\n${run.stderr}`)
    for (const text of texts) assert.match(run.stdout + run.stderr, text)
  }

  it('says ok for the SSH round trip alone', async () => {
    says(await warren('check', ...trusted), 0, /^ok {3}\S+ {2}SSH answers/)
  })

  it('asks an HTTP path through the tunnel', async () => {
    const before = origin.requests
    says(await warren('check', ...trusted, '--to', String(origin.port), '--path', '/health'), 0, /HTTP 200 OK/)
    assert.equal(origin.requests, before + 1)
  })

  it('does the same by a child ssh, and tells no other transport from a mistake', async () => {
    const before = origin.requests
    const how = ['--transport', 'openssh', '--to', String(origin.port), '--path', '/health']
    says(await warren('check', ...trusted, ...how), 0, /HTTP 200 OK/)
    assert.equal(origin.requests, before + 1)
    assert.equal((await warren('check', ...trusted, '--transport', 'telnet')).code, 2)
  })

  it('an HTTP 500 fails and says that the tunnel works', async () => {
    says(
      await warren('check', ...trusted, '--to', String(origin.port), '--path', '/status/500'),
      1,
      /FAIL .*HTTP 500/,
      /The tunnel works/,
      /--expect/,
    )
  })

  it('what is healthy can be said', async () => {
    const path = ['--to', String(origin.port), '--path', '/status/404']
    says(await warren('check', ...trusted, ...path, '--expect', '404'), 0, /^ok/)
    says(
      await warren('check', ...trusted, '--to', String(origin.port), '--path', '/health', '--expect', '300-399'),
      1,
      /expected 300 to 399/,
    )
  })

  it('a service that does not listen is told from a host that is down', async () => {
    says(await warren('check', ...trusted, '--to', '1', '--path', '/'), 1, /Connection refused/, /The SSH part works/)
  })

  it('a wrong key says which things to look at', async () => {
    const stranger = join(directory, 'stranger')
    await writeFile(stranger, makeKeyPair().private, { mode: 0o600 })
    says(
      await warren('check', login, '-i', stranger, '--host-key', sshd.fingerprint),
      1,
      /none of the identities/,
      /authorized_keys/,
    )
  })

  it('an unknown host key prints the fingerprint and the flag that accepts it, and the flag does', async () => {
    const run = await warren('check', login, '-i', sshd.keyPath)
    says(run, 1, /not known/)
    const flag = /--host-key (SHA256:\S{43})/.exec(run.stdout)?.[1]
    assert.equal(flag, sshd.fingerprint)
    says(await warren('check', login, '-i', sshd.keyPath, '--host-key', flag ?? ''), 0, /^ok/)
  })

  it('a changed host key shows both fingerprints', async () => {
    const other = makeKeyPair().fingerprint
    const run = await warren('check', login, '-i', sshd.keyPath, '--host-key', other)
    says(run, 1)
    assert.ok(run.stdout.includes(other) && run.stdout.includes(sshd.fingerprint), run.stdout)
  })

  it('goes through a jump, and names it when that is what fails', async () => {
    const jump = await startSshd()
    try {
      const hop = `${jump.user}@127.0.0.1:${jump.port}`
      const keys = ['-i', sshd.keyPath, '-i', jump.keyPath, '--host-key', sshd.fingerprint]
      const through = ['check', login, ...keys, '--jump', hop]
      const url = ['--to', String(origin.port), '--path', '/health']
      says(await warren(...through, '--host-key', jump.fingerprint, ...url), 0, /HTTP 200 OK/)
      assert.match(jump.log(), /Accepted publickey/)
      says(
        await warren(...through),
        1,
        new RegExp(`The jump ${hop} is what fails.*--host-key ${jump.fingerprint.replace(/[+/]/g, '.')}`),
      )
      await jump.stop()
      const run = await warren(...through, '--json')
      const [outcome] = JSON.parse(run.stdout)
      assert.deepEqual([run.code, outcome.code, outcome.hop], [1, 'ERR_REFUSED', hop])
    } finally {
      await jump.close()
    }
  })

  it('a closed port, a mute server and an unknown name are told apart, side by side', async () => {
    const run = await warren(
      'check',
      '127.0.0.1:1',
      `127.0.0.1:${tarpit.port}`,
      'nonexistent.invalid',
      '-i',
      sshd.keyPath,
      '--host-key',
      'accept-new',
      '--timeout',
      '1',
    )
    says(
      run,
      1,
      /127\.0\.0\.1:1 .*ECONNREFUSED/,
      /at banner/,
      /could not resolve nonexistent\.invalid/,
      /Nothing listens there/,
      /Check the name/,
    )
  })

  it('--json is machine-readable', async () => {
    const run = await warren('check', ...trusted, '127.0.0.1:1', '--json')
    assert.equal(run.code, 1)
    const outcomes = JSON.parse(run.stdout) as Array<{ ok: boolean; code?: string }>
    assert.deepEqual(
      outcomes.map(({ ok, code }) => [ok, code]),
      [
        [true, undefined],
        [false, 'ERR_REFUSED'],
      ],
    )
  })

  it('reads a file of targets, with defaults', async () => {
    const file = join(directory, 'targets.yaml')
    await writeFile(
      file,
      `defaults: { user: ${sshd.user}, identity: ${sshd.keyPath}, to: ${origin.port}, path: /health }\ntargets:\n  - host: 127.0.0.1:${sshd.port}\n    hostKey: ${sshd.fingerprint}\n    label: the sshd\n  - host: 127.0.0.1:${sshd.port}\n    hostKey: [${sshd.fingerprint}]\n    path: /status/204\n`,
    )
    says(await warren('check', '--file', file), 0, /HTTP 200[\s\S]*HTTP 204|HTTP 204[\s\S]*HTTP 200/)
  })

  for (const [what, text, place] of [
    ['an unknown key', 'targets:\n  - host: a\n    pth: /x\n', /:3:5: unknown key `pth`; did you mean `path`\?/],
    ['a target without host', 'targets:\n  - path: /x\n', /:2:5: this target has no `host`/],
    ['broken YAML', 'targets: [a, b\n', /:\d+:\d+: /],
    ['no targets', 'defaults: {}\n', /expected a list of at least one target/],
    ['a port that is none', 'targets:\n  - host: a:b:c\n', /:2:5: expected \[user@\]host\[:port\]/],
  ] as const) {
    it(`${what} in the file is an error with line and column, and nothing is dialled`, async () => {
      const file = join(directory, 'bad.yaml')
      await writeFile(file, text)
      says(await warren('check', '--file', file), 2, place)
    })
  }

  for (const [what, args, text] of [
    ['no target', [], /name at least one target/],
    ['an unknown option', ['a', '--timout', '3'], /Did you mean --timeout/],
    ['a bad status', ['a', '--expect', 'ok'], /200-299/],
    ['a bad host', ['-oProxyCommand=x'], /unknown option|host/],
    ['a bad jump', ['a', '--jump', 'b c'], /jump|\[user@\]host/],
  ] as const) {
    it(`${what} is usage: exit code 2`, async () => {
      says(await warren('check', ...args), 2, text)
    })
  }
})
