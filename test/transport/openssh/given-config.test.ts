import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { givenConfig } from '../../../src/transport/openssh/given-config.ts'
import { ask, one, request } from '../../support/openssh-config.ts'

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
