import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Target } from '../../src/index.ts'
import { targetFromConfig } from '../../src/index.ts'
import { refusal, startPool } from '../support/pool.ts'
import { startSshd } from '../support/sshd.ts'

const CONFIG = `
# What comes first counts.
ServerAliveInterval 15
Host gpu-* !gpu-9
  HostName %h.internal
  User ops
  IdentityFile ~/.ssh/%n-%r-%p
  IdentityFile "/keys/two words"
  CertificateFile "/keys/two words-cert.pub"
  UserKnownHostsFile ~/.ssh/gpu_hosts /etc/gpu_hosts
Host gpu-7
  Port 2222
  HostKeyAlias i-7
  ForwardAgent yes
Host web?
  hostname=web.example.com
  user = www
Match host *.example.com user www
  Port 8022
Match originalhost v6
  HostName 2001:db8::1
Match all
  User everybody
  ForwardAgent no
`

const me = userInfo().username

describe('targetFromConfig', () => {
  let directory: string
  let file: string
  const write = (text: string) => writeFileSync(file, text)
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'config-'))
    file = join(directory, 'config')
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  /** What ssh itself makes of it, by keyword. */
  const sshSays = (alias: string): Map<string, string[]> => {
    const said = new Map<string, string[]>()
    for (const line of execFileSync('ssh', ['-G', '-F', file, alias], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split('\n')) {
      const [keyword = '', ...rest] = line.split(' ')
      said.set(keyword, [...(said.get(keyword) ?? []), rest.join(' ')])
    }
    return said
  }

  for (const alias of ['gpu-7', 'gpu-8', 'gpu-9', 'web1', 'web', 'web12', 'v6', 'elsewhere'])
    it(`reads what ssh -G says of ${alias}`, async () => {
      write(CONFIG)
      const said = sshSays(alias)
      const { target } = await targetFromConfig(file, alias)
      assert.deepEqual(
        [target.host, String(target.port), target.user, target.hostKeyAlias],
        [said.get('hostname')?.[0], said.get('port')?.[0], said.get('user')?.[0], said.get('hostkeyalias')?.[0]],
      )
      // ssh leaves tokens in file names to the moment it opens them.
      const home = (name: string) => name.replace(/^~/, homedir())
      const files = (keyword: string) =>
        (said.get(keyword) ?? []).map((name) =>
          name.replace('%n', alias).replace('%r', target.user).replace('%p', String(target.port)).replace(/^~/, homedir()),
        )
      const isSaid = alias.startsWith('gpu-') && alias !== 'gpu-9'
      const identities = target.identity as ReadonlyArray<{ path: string }>
      if (isSaid)
        assert.deepEqual(
          identities.map(({ path }) => home(path)),
          files('identityfile'),
        )
      else assert.equal(target.identity, 'ambient')
      const { knownHosts = [] } = (target.hostKey ?? {}) as { knownHosts?: readonly string[] }
      if (isSaid) assert.deepEqual(knownHosts.map(home), files('userknownhostsfile')[0]?.split(' '))
      else assert.equal(target.hostKey, undefined)
    })

  it('pairs certificates with keys, by name, then by place', async () => {
    write('Host a\n IdentityFile /k/one\n IdentityFile /k/two\n CertificateFile /k/two-cert.pub\n CertificateFile /k/signed\n')
    const { target } = await targetFromConfig(file, 'a')
    assert.deepEqual(target.identity, [
      { path: '/k/one', certificate: '/k/signed' },
      { path: '/k/two', certificate: '/k/two-cert.pub' },
    ])
  })

  it('says which keywords it ignored, each once, and none of hosts that are not asked for', async () => {
    write(CONFIG)
    assert.deepEqual((await targetFromConfig(file, 'gpu-7')).ignored, ['ServerAliveInterval', 'ForwardAgent'])
    write(
      'Host b\n Compression yes\nHost a\n Include x\n ProxyCommand nc %h %p\nMatch exec "touch ran" originalhost a\n Port 1\nMatch final\n Port 2\n',
    )
    const { target, ignored } = await targetFromConfig(file, 'a')
    assert.deepEqual([ignored, target.port], [['Include', 'ProxyCommand', 'Match exec', 'Match final'], 22])
  })

  it('follows ProxyJump: each hop by what the config says of it, the first hop through its own', async () => {
    write(`
Host target
  ProxyJump middle,root@last:2022
  IdentityFile /keys/target
  UserKnownHostsFile /hosts
Host middle
  HostName middle.internal
  User m
  ProxyJump ssh://outer:23
  IdentityFile /keys/middle
Host last
  ProxyJump elsewhere
  Ciphers aes128-ctr
Host outer
  HostKeyAlias gate
`)
    const { target, ignored } = await targetFromConfig(file, 'target')
    const unsaid = { knownHosts: ['~/.ssh/known_hosts', '/etc/ssh/ssh_known_hosts'] }
    assert.deepEqual(target.jumps, [
      { host: 'outer', port: 23, user: me, identity: 'ambient', hostKeyAlias: 'gate', hostKey: unsaid },
      { host: 'middle.internal', port: 22, user: 'm', identity: [{ path: '/keys/middle' }], hostKey: unsaid },
      { host: 'last', port: 2022, user: 'root', identity: 'ambient', hostKey: unsaid },
    ])
    assert.deepEqual(ignored, ['Ciphers'])
    write('Host *\n ProxyJump none\n')
    assert.equal((await targetFromConfig(file, 'a')).target.jumps, undefined)
  })

  for (const [what, text, message] of [
    ['hops that go round in circles', 'Host *\n ProxyJump b\n', /round in circles: "a" through "b" through "b"/],
    ['a hop that is none', 'Host a\n ProxyJump user@\n', /Expected `ProxyJump`/],
    ['a file that is no config', 'Host a\n IdentityFile "/never closed\n', /could not parse/],
  ] as const)
    it(`refuses ${what}`, async () => {
      write(text)
      const error = await refusal(targetFromConfig(file, 'a'), 'ERR_INVALID_OPTION')
      assert.match(error.message, message)
    })

  it('refuses a file that is not there, and an alias that would be an option', async () => {
    const error = await refusal(targetFromConfig(join(directory, 'none'), 'a'), 'ERR_INVALID_OPTION')
    assert.match(error.message, /could not read .*none.*ENOENT/)
    write('')
    for (const alias of ['-oProxyCommand=x', '', 'a b', 7])
      await refusal(targetFromConfig(file, alias as string), 'ERR_INVALID_OPTION')
  })

  it('leads to a real host through a real jump', async () => {
    await using inner = await startSshd()
    await using outer = await startSshd()
    const knownHosts = join(directory, 'known_hosts')
    writeFileSync(knownHosts, [outer, inner].map(({ port, hostKeyLine }) => `[127.0.0.1]:${port} ${hostKeyLine}\n`).join(''))
    const section = (name: string, { port, user, keyPath }: typeof inner) =>
      `Host ${name}\n HostName 127.0.0.1\n Port ${port}\n User ${user}\n IdentityFile ${keyPath}\n UserKnownHostsFile ${knownHosts}\n`
    write(`${section('inner', inner)} ProxyJump outer\n${section('outer', outer)}`)
    const { target }: { target: Target } = await targetFromConfig(file, 'inner')
    await using pool = startPool()
    await using lease = await pool.acquire(target)
    assert.equal((await lease.exec('echo $SSH_CONNECTION')).stdout.toString().split(' ')[3], `${inner.port}\n`)
    assert.match(outer.log(), /Accepted publickey/)
  })
})
