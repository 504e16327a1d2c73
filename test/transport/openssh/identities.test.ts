import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Target } from '../../../src/index.ts'
import { startFidoAgent } from '../../support/fido.ts'
import { makePemKey, makeUserKey } from '../../support/identity-keys.ts'
import { Bench } from '../../support/master.ts'
import { refusal } from '../../support/pool.ts'
import { startAgent } from '../../support/ssh-agent.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

describe('openssh: identities', () => {
  let sshd: Sshd
  const environment = { HOME: process.env.HOME, SSH_AUTH_SOCK: process.env.SSH_AUTH_SOCK }
  const authority = makeUserKey('ed25519')

  before(async () => {
    sshd = await startSshd({ config: { MaxAuthTries: '3' } })
  })
  after(() => sshd.close())

  beforeEach(async () => {
    process.env.HOME = join(sshd.directory, `home-${Math.random()}`)
    await mkdir(join(process.env.HOME, '.ssh'), { recursive: true })
    delete process.env.SSH_AUTH_SOCK
    await writeFile(join(sshd.directory, 'authorized_keys'), '')
  })
  afterEach(() => {
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  const permit = (line: string) => appendFile(join(sshd.directory, 'authorized_keys'), `${line}\n`)
  const put = async (name: string, content: string) => {
    const path = join(sshd.directory, name)
    await writeFile(path, content, { mode: 0o600 })
    return path
  }

  /** Logs in; the result is what the server took: the type and fingerprint of each key that was accepted since. */
  async function logIn(identity: Target['identity']): Promise<string> {
    const before = sshd.log().length
    await using bench = new Bench()
    await bench.master({ ...sshd.target, identity })
    return sshd.log().slice(before)
  }

  for (const [what, key, passphrase] of [
    ['an ed25519 key', makeUserKey('ed25519'), undefined],
    ['an ECDSA key', makeUserKey('ecdsa'), undefined],
    ['an RSA key', makeUserKey('rsa'), undefined],
    ['an encrypted key', makeUserKey('ed25519', 's3cret'), 's3cret'],
    ['an RSA key in PEM', makePemKey(), undefined],
    ['an encrypted RSA key in PEM', makePemKey('s3cret'), 's3cret'],
  ] as const) {
    it(`log in with ${what}, from memory and from a file`, async () => {
      await permit(key.public)
      const accepted = /Accepted publickey/
      assert.match(await logIn({ key: key.private, passphrase }), accepted)
      assert.match(await logIn({ path: await put('a key', key.private), passphrase }), accepted)
    })
  }

  it('never ask for a passphrase: without it, or with another, the key is ERR_KEY_FORMAT', async () => {
    const key = makeUserKey('ed25519', 's3cret')
    await using bench = new Bench()
    await refusal(bench.master({ ...sshd.target, identity: { key: key.private } }), 'ERR_KEY_FORMAT', 'auth')
    const error = await refusal(
      bench.master({ ...sshd.target, identity: { key: key.private, passphrase: 'other' } }),
      'ERR_KEY_FORMAT',
      'auth',
    )
    assert.doesNotMatch(error.message, /other/)
  })

  it('are nowhere but in memory: not on disk, in no argument, in no environment', async () => {
    const key = makeUserKey('ed25519', 's3cret')
    await permit(key.public)
    await using bench = new Bench()
    const { child, controlPath } = await bench.master({ ...sshd.target, identity: { key: key.private, passphrase: 's3cret' } })
    const directory = dirname(controlPath)
    const secret = key.private.split('\n')[3] ?? assert.fail()
    // ssh links the socket to its name and then removes the one it was bound under.
    await until(() => readdirSync(directory).length === 3)
    assert.deepEqual(readdirSync(directory).sort(), ['c', 'f', 'k'])
    for (const name of ['f', 'k']) {
      assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600)
      const text = readFileSync(join(directory, name), 'utf8')
      assert.ok(!text.includes(secret) && !text.includes('s3cret') && !text.includes('PRIVATE'))
    }
    assert.deepEqual([statSync(directory).mode & 0o777, statSync(controlPath).mode & 0o777], [0o700, 0o600])
    const words = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0')
    assert.deepEqual(words.slice(1), ['-F', join(directory, 'f'), '-N', 'target', ''])
    const names = readFileSync(`/proc/${child.pid}/environ`, 'utf8')
      .split('\0')
      .map((line) => line.split('=')[0])
    assert.deepEqual(names.filter(Boolean).sort(), ['HOME', 'LANG', 'PATH'])
  })

  it('are offered exactly, in their order: eight keys in an agent are not in the way of the one that is named (B57)', async () => {
    const foreign = Array.from({ length: 8 }, () => makeUserKey('ed25519'))
    const [wrong, right] = [makeUserKey('ed25519'), makeUserKey('ecdsa')]
    await permit(right.public)
    await using agent = await startAgent(foreign.map((each) => each.private))
    process.env.SSH_AUTH_SOCK = agent.socketPath
    const said = await logIn([{ key: wrong.private }, { key: right.private }])
    assert.equal(said.match(/Failed publickey/g)?.length ?? 0, 1, said)
    assert.match(said, /Accepted publickey .* ECDSA/)
  })

  for (const [how, give] of [
    ['from memory', async (text: string) => text],
    ['as bytes', async (text: string) => Buffer.from(text)],
    ['as SSH sends it', async (text: string) => Buffer.from(text.split(' ')[1] ?? '', 'base64')],
  ] as const) {
    it(`log in by a certificate ${how}`, async () => {
      const key = makeUserKey('ed25519')
      const certificate = await certify(key)
      await permit(`cert-authority ${authority.public}`)
      assert.match(await logIn({ key: key.private, certificate: await give(certificate) }), /Accepted publickey .* ED25519-CERT/)
    })
  }

  for (const type of ['ed25519', 'ecdsa', 'rsa'] as const)
    it(`log in by the certificate of an ${type} key, from files`, async () => {
      const key = makeUserKey(type)
      const certificate = await put('certificate', await certify(key))
      await permit(`cert-authority ${authority.public}`)
      assert.match(await logIn({ path: await put('certified', key.private), certificate }), /Accepted publickey .*-CERT/)
    })

  it('do not take a certificate for another key, nor what is none', async () => {
    const [key, other] = [makeUserKey('ed25519'), makeUserKey('ed25519')]
    await using bench = new Bench()
    for (const certificate of [await certify(other), 'nonsense', key.public, Buffer.alloc(3), '/etc/passwd'])
      await refusal(bench.master({ ...sshd.target, identity: { key: key.private, certificate } }), 'ERR_KEY_FORMAT', 'auth')
  })

  async function certify(key: { private: string; public: string }): Promise<string> {
    const [ca, path] = [await put('ca', authority.private), await put('to-certify.pub', `${key.public}\n`)]
    execFileSync('ssh-keygen', ['-q', '-s', ca, '-I', 'test', '-n', sshd.user, path], { stdio: 'ignore' })
    return readFileSync(join(sshd.directory, 'to-certify-cert.pub'), 'utf8')
  }

  it('log in by an agent, with all of its keys or with those that are named', async () => {
    const keys = [makeUserKey('ed25519'), makeUserKey('ecdsa'), makeUserKey('rsa')]
    await using agent = await startAgent(keys.map((each) => each.private))
    for (const key of keys) {
      await writeFile(join(sshd.directory, 'authorized_keys'), `${key.public}\n`)
      assert.match(await logIn({ agent: agent.socketPath, publicKeys: [key.public] }), /Accepted publickey/)
    }
    process.env.SSH_AUTH_SOCK = agent.socketPath
    assert.match(await logIn({ agent: true }), /Accepted publickey/)
  })

  it('log in by a FIDO key, through its agent', async () => {
    await using agent = await startFidoAgent()
    await permit(agent.publicKey)
    assert.match(await logIn({ agent: agent.socketPath }), /Accepted publickey .* ED25519-SK/)
  })

  it('say of a FIDO key without an agent that it needs one', async () => {
    await using agent = await startFidoAgent()
    await using bench = new Bench()
    const error = await refusal(bench.master({ ...sshd.target, identity: { key: agent.handle } }), 'ERR_KEY_FORMAT', 'auth')
    assert.match(error.message, /FIDO.*agent/)
  })

  it("that are ambient are the agent's, then the usual files that can be used", async () => {
    const [inAgent, inHome] = [makeUserKey('ed25519'), makeUserKey('ecdsa')]
    await using agent = await startAgent([inAgent.private])
    process.env.SSH_AUTH_SOCK = agent.socketPath
    await writeFile(join(process.env.HOME ?? '', '.ssh', 'id_ecdsa'), inHome.private, { mode: 0o600 })
    await writeFile(join(process.env.HOME ?? '', '.ssh', 'id_rsa'), 'nonsense', { mode: 0o600 })
    await permit(inHome.public)
    assert.match(await logIn('ambient'), /Failed publickey[\s\S]*Accepted publickey .* ECDSA/)
    process.env.SSH_AUTH_SOCK = '/nonexistent'
    assert.match(await logIn('ambient'), /Accepted publickey .* ECDSA/)
  })

  it('that are loaded are asked for at each dial', async () => {
    const key = makeUserKey('ed25519')
    await permit(key.public)
    let asked = 0
    const load = async () => {
      asked += 1
      return { key: key.private }
    }
    await logIn({ id: 'vault', load })
    await logIn({ id: 'vault', load })
    assert.equal(asked, 2)
  })

  it('that cannot be loaded end the dial with their own reason', async () => {
    await using bench = new Bench()
    const load = () => Promise.reject(new Error('vault is sealed'))
    const error = await refusal(bench.master({ ...sshd.target, identity: { id: 'vault', load } }), 'ERR_AGENT', 'auth')
    assert.equal((error.cause as Error).message, 'vault is sealed')
  })

  it('are not even loaded at the wrong host', async () => {
    let asked = 0
    const load = async () => {
      asked += 1
      return { key: makeUserKey('ed25519').private }
    }
    await using bench = new Bench()
    const target: Target = { ...sshd.target, identity: { id: 'vault', load }, hostKey: { pinned: `SHA256:${'A'.repeat(43)}` } }
    await refusal(bench.master(target), 'ERR_HOST_KEY', 'hostkey')
    assert.equal(asked, 0)
  })
})
