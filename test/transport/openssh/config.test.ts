import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Target } from '../../../src/index.ts'
import { resolvePoolOptions } from '../../../src/options.ts'
import { Targets } from '../../../src/target/targets.ts'
import { aliasFor, type ConfigRequest, configText } from '../../../src/transport/openssh/config.ts'
import { givenConfig } from '../../../src/transport/openssh/given-config.ts'
import { effective, inDirectory } from '../../support/ssh-g.ts'

const RUNS = process.env.WARREN_LONG ? 400 : 30
const plain: Target = { host: 'gpu-7', user: 'ops', identity: { agent: true } }

const request = (target: Partial<Target> = {}, more: Partial<ConfigRequest> = {}): ConfigRequest => ({
  target: new Targets(resolvePoolOptions({ transport: 'openssh' })).resolve({ ...plain, ...target }),
  hostKeyAlgorithms: undefined,
  jump: undefined,
  given: undefined,
  ...more,
})
const ask = (given: ConfigRequest) => effective(configText(given), aliasFor(given.target))
const one = (given: ConfigRequest, keyword: string) => ask(given).get(keyword)?.join('|')

describe("openssh's config", () => {
  it("says who, where and how, in ssh's own reading", () => {
    const values = ask(request({ port: 2222, keepAliveIntervalMillis: 10_000, keepAliveCountMax: 3 }))
    const expected = {
      hostname: 'gpu-7',
      port: '2222',
      user: 'ops',
      batchmode: 'yes',
      connecttimeout: '5',
      connectionattempts: '1',
      serveraliveinterval: '10',
      serveralivecountmax: '3',
      controlmaster: 'true',
      controlpath: 'c',
      controlpersist: 'no',
      sessiontype: 'none',
      forkafterauthentication: 'no',
      exitonforwardfailure: 'yes',
      clearallforwardings: 'yes',
      hostkeyalias: 'target',
      stricthostkeychecking: 'accept-new',
      userknownhostsfile: 'k',
      globalknownhostsfile: '/dev/null',
      updatehostkeys: 'false',
      identityagent: 'a',
      identitiesonly: 'no',
      identityfile: 'none',
      passwordauthentication: 'no',
      kbdinteractiveauthentication: 'no',
      hostbasedauthentication: 'no',
      gssapiauthentication: 'no',
      forwardagent: 'no',
      forwardx11: 'no',
      permitlocalcommand: 'no',
      requesttty: 'false',
      canonicalizehostname: 'false',
      compression: 'no',
      loglevel: 'INFO',
    }
    for (const [keyword, value] of Object.entries(expected)) assert.equal(values.get(keyword)?.join('|'), value, keyword)
    assert.equal(values.get('proxycommand'), undefined)
    assert.equal(values.get('remotecommand'), undefined)
  })

  for (const [millis, seconds] of [
    [10_000, '10'],
    [1_500, '2'],
    [200, '1'],
    [0, '0'],
    [Number.POSITIVE_INFINITY, '0'],
  ] as const)
    it(`asks a silent server every ${millis} ms in whole seconds: ${seconds}`, () =>
      assert.equal(one(request({ keepAliveIntervalMillis: millis }), 'serveraliveinterval'), seconds))

  it('offers nothing that rests on SHA-1 or that Terrapin can cut', () => {
    const values = ask(request())
    for (const keyword of [
      'kexalgorithms',
      'ciphers',
      'macs',
      'hostkeyalgorithms',
      'pubkeyacceptedalgorithms',
      'casignaturealgorithms',
    ]) {
      const offered = values.get(keyword)?.[0]?.split(',') ?? []
      assert.ok(offered.length > 0, keyword)
      assert.deepEqual(
        offered.filter((name) => /sha1$|^ssh-rsa|^ssh-dss|chacha20|-etm|md5|cbc/.test(name)),
        [],
        keyword,
      )
    }
    assert.match(values.get('kexalgorithms')?.[0] ?? '', /^sntrup761x25519|^mlkem/)
  })

  it('asks for the host key types that are known, and no others', () =>
    assert.equal(
      one(request({}, { hostKeyAlgorithms: ['rsa-sha2-512', 'rsa-sha2-256'] }), 'hostkeyalgorithms'),
      'rsa-sha2-512,rsa-sha2-256',
    ))

  for (const host of ['10.0.0.7', '2001:db8::1', 'fe80::1%eth0', 'xn--bcher-kva.example'])
    it(`reaches ${host}`, () => assert.equal(one(request({ host }), 'hostname'), host))

  it('takes a user name as it is, whatever is in it', () => {
    const users = fc.string({
      unit: fc.constantFrom(...`abcXYZ019._-@+=:,;\\/'"\`#!&|<>(){}[]*?~^äß`),
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(
        users.filter((user) => !user.startsWith('-')),
        (user) => assert.equal(one(request({ user }), 'user'), user),
      ),
      { numRuns: RUNS, examples: [['DOMAIN\\user'], ['a#b'], ['#a'], ['a"b'], ['\\'], ['"'], ["'"], ['a\\']] },
    )
  })

  for (const user of ['a%hb', 'a$HOME'])
    it(`refuses the user ${user}, in which newer versions of ssh would replace something`, () =>
      assert.throws(() => configText(request({ user })), { code: 'ERR_INVALID_OPTION' }))

  it('goes through a jump by our own words, whatever is in the path', () => {
    const names = fc.string({ unit: fc.constantFrom(...`abc 019%h%p$()'"\`\\;&|<>*?~#!{}\täß`), minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(names, (name) =>
        inDirectory((directory) => {
          const ssh = join(directory, 'dump')
          writeFileSync(ssh, `#!/bin/sh\nfor each in "$@"; do printf '%s\\n' "$each"; done > ${directory}/words\n`)
          chmodSync(ssh, 0o700)
          const controlPath = `/run/${name}/c`
          writeFileSync(
            join(directory, 'f'),
            configText(request({ host: 'fe80::1%eth0' }, { jump: { controlPath, ssh, setpriv: undefined } })),
          )
          try {
            execFileSync('ssh', ['-F', join(directory, 'f'), '-N', 'target'], {
              cwd: directory,
              stdio: 'ignore',
              env: { PATH: process.env.PATH },
            })
          } catch {
            // What it dumps is no SSH server.
          }
          const words = readFileSync(join(directory, 'words'), 'utf8').split('\n').slice(0, -1)
          assert.deepEqual(words.slice(0, 4), ['-F', 'none', '-S', controlPath])
          assert.deepEqual(words.slice(-3), ['-W', '[fe80::1%eth0]:22', 'x'])
        }),
      ),
      { numRuns: Math.ceil(RUNS / 3), examples: [["a'b"], ['%h %%'], ['$(touch x)'], ['a\tb']] },
    )
  })

  it("has the jump's client die with its parent, too", () =>
    assert.match(
      one(request({}, { jump: { controlPath: '/run/w/c', ssh: '/usr/bin/ssh', setpriv: '/usr/bin/setpriv' } }), 'proxycommand') ??
        '',
      /^\/usr\/bin\/setpriv --pdeathsig TERM -- \/usr\/bin\/ssh -F none -S \/run\/w\/c /,
    ))
})

describe("openssh's config, opened by its user", () => {
  it('takes tuning, before our own values', () => {
    const values = ask(request({ openssh: { options: { ciphers: 'aes256-ctr', ConnectTimeout: '2', RekeyLimit: '1G 1h' } } }))
    assert.deepEqual(
      [values.get('ciphers'), values.get('connecttimeout'), values.get('rekeylimit')],
      [['aes256-ctr'], ['2'], ['1073741824 3600']],
    )
  })

  it('takes what is dangerous by that name', () =>
    assert.equal(
      one(request({ openssh: { dangerousOptions: { ProxyCommand: 'nc -X 5 %h %p # "quoted' } } }), 'proxycommand'),
      'nc -X 5 %h %p # "quoted',
    ))

  for (const [options, message] of [
    [{ options: { Cipher: 'aes128-ctr' } }, /`openssh\.options\.Cipher`; did you mean `Ciphers`\?/],
    [{ options: { ProxyCommand: 'nc' } }, /`openssh\.options\.ProxyCommand` is not taken: it is dangerous/],
    [{ dangerousOptions: { Ciphers: 'aes128-ctr' } }, /is not taken: it is harmless/],
    [{ options: { ControlPersist: 'yes' } }, /unknown option `openssh\.options\.ControlPersist`/],
    [{ dangerousOptions: { ControlPath: '/x' } }, /unknown option/],
    [{ options: { Match: 'all' } }, /unknown option/],
    [{ options: { StrictHostKeyChecking: 'no' } }, /use the target's `hostKey`/],
    [{ options: { IdentityFile: '/k' } }, /use the target's `identity`/],
    [{ options: { ProxyJump: 'x' } }, /use the target's `jumps`/],
    [{ options: { 'Ciphers aes128-ctr\nProxyCommand': 'x' } }, /unknown option/],
    [{ options: { Ciphers: 'a\nProxyCommand touch /tmp/x' } }, /Expected `openssh\.options\.Ciphers` to be a value of one line/],
    [{ options: { Ciphers: 'a\0' } }, /Expected/],
    [{ options: { Ciphers: 'a"' } }, /Expected/],
    [{ options: { Ciphers: 'a #b' } }, /Expected/],
    [{ options: { Ciphers: '%h' } }, /Expected/],
    [{ options: { Ciphers: 5 } }, /Expected/],
    [{ options: { Ciphers: 'a', ciphers: 'b' } }, /given once/],
    [{ dangerousOptions: { ProxyCommand: 'x\nLocalCommand y' } }, /Expected/],
    [{ configFile: '' }, /configFile/],
    [{ optoins: {} }, /did you mean `options`\?/],
  ] as const)
    it(`refuses ${JSON.stringify(options)}`, () =>
      assert.throws(
        () => request({ openssh: options as never }),
        (error: Error & { code: string }) => {
          assert.equal(error.code, 'ERR_INVALID_OPTION')
          assert.match(error.message, message)
          return true
        },
      ))

  const HOSTILE = `
    ControlMaster auto
    ControlPersist 10m
    ControlPath /tmp/elsewhere
    LocalForward 127.0.0.1:1 127.0.0.1:1
    "RemoteForward" 1 127.0.0.1:1
    DynamicForward 1081
    ProxyJump evil
    ProxyCommand evil
    RequestTTY force
    RemoteCommand evil
    LogLevel QUIET
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    ForwardAgent yes
    IdentityFile /evil
    CertificateFile=/evil
    IdentityAgent /evil
    KnownHostsCommand /evil
    PKCS11Provider /evil
    BatchMode no
    PermitLocalCommand yes
    User evil
    HostName evil
    Port 1
    HostKeyAlias evil
    SendEnv *
    SetEnv A=b
    Include /etc/hostname
    ForkAfterAuthentication yes
    SessionType default
    Match exec "touch CANARY"
      Compression yes
    Match host gpu-7 exec "touch CANARY"
      Compression yes
    Match host gpu-7
      RekeyLimit 2G
    Host gpu-*
      IPQoS af21
`
  it('lets a config file that is opted in to decide only what is left', async () => {
    const canary = `/tmp/canary-${process.pid}`
    const directory = mkdtempSync(join(tmpdir(), 'their-config-'))
    const configFile = join(directory, 'their own %h "config"')
    writeFileSync(configFile, HOSTILE.replaceAll('CANARY', canary))
    const given = await givenConfig(configFile, new AbortController().signal)
    rmSync(directory, { recursive: true })
    const [bare, opened] = [request(), request({ openssh: { configFile } }, { given })]
    const [without, withFile] = [ask(bare), ask(opened)]
    const changed = [...new Set([...without.keys(), ...withFile.keys()])].filter(
      (keyword) => without.get(keyword)?.join('|') !== withFile.get(keyword)?.join('|'),
    )
    assert.deepEqual(changed.sort(), ['host', 'ipqos'])
    assert.throws(() => readFileSync(canary))
  })

  it('says of a config file that is not there that it is the option', async () =>
    assert.rejects(givenConfig('/nonexistent', new AbortController().signal), {
      code: 'ERR_INVALID_OPTION',
      message: /configFile/,
    }))
})
