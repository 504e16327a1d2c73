import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { configText } from '../../../src/transport/openssh/config.ts'
import { ask, one, request } from '../../support/openssh-config.ts'
import { inDirectory } from '../../support/ssh-g.ts'

const RUNS = process.env.WARREN_LONG ? 400 : 30

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
