import assert from 'node:assert/strict'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Target } from '../../../src/index.ts'
import { startHostile } from '../../support/hostile.ts'
import { makeUserKey } from '../../support/identity-keys.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { startAgent } from '../../support/ssh-agent.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'

describe('ssh2: several identities', () => {
  let sshd: Sshd
  const environment = { HOME: process.env.HOME, SSH_AUTH_SOCK: process.env.SSH_AUTH_SOCK }
  const inAgent = makeUserKey('ed25519')
  const inHome = makeUserKey('ecdsa')

  before(async () => {
    sshd = await startSshd()
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

  const permit = (key: { public: string }) => appendFile(join(sshd.directory, 'authorized_keys'), `${key.public}\n`)
  const put = (name: string, content: string) => writeFile(join(process.env.HOME ?? '', '.ssh', name), content, { mode: 0o600 })

  async function logsIn(identity: Target['identity']): Promise<void> {
    await using pool = startPool()
    await using lease = await pool.acquire({ ...sshd.target, identity })
    assert.equal(lease.signal.aborted, false)
  }

  it('are offered in their order, and the first that is taken ends it', async () => {
    const [first, second, third] = [makeUserKey('ed25519'), makeUserKey('ed25519'), makeUserKey('ed25519')]
    const seen: string[] = []
    const blob = (key: { public: string }) => key.public.split(' ')[1]
    await using host = await startHostile({
      authenticate: (context) => {
        seen.push(context.method === 'publickey' ? context.key.data.toString('base64') : context.method)
        if (context.method === 'publickey' && context.key.data.toString('base64') === blob(second)) context.accept()
        else context.reject(['publickey', 'password'])
      },
    })
    await using pool = startPool()
    const identity = [{ password: 'no' }, { key: first.private }, { key: second.private }, { key: third.private }]
    await using _lease = await pool.acquire({ ...host.target, identity })
    assert.deepEqual([...new Set(seen)], ['password', blob(first), blob(second)])
  })

  it('that all fail are ERR_AUTH', async () => {
    await using pool = startPool()
    const identity = [{ key: makeUserKey('ed25519').private }, { password: 'x' }]
    await refusal(pool.acquire({ ...sshd.target, identity }), 'ERR_AUTH', 'auth')
  })

  it("'ambient' are the usual files of the user", async () => {
    await permit(inHome)
    await put('id_ed25519', makeUserKey('ed25519', 'a passphrase').private)
    await put('id_ecdsa', inHome.private)
    await logsIn('ambient')
  })

  it("'ambient' are first the keys of the agent", async () => {
    await permit(inAgent)
    await put('id_ecdsa', inHome.private)
    await using agent = await startAgent([inAgent.private])
    process.env.SSH_AUTH_SOCK = agent.socketPath
    await logsIn('ambient')
    assert.doesNotMatch(sshd.log(), /Failed publickey.*ECDSA/)
  })

  it("'ambient' go on when the agent of the environment is gone", async () => {
    await permit(inHome)
    await put('id_ecdsa', inHome.private)
    process.env.SSH_AUTH_SOCK = '/nonexistent/agent'
    await logsIn('ambient')
  })

  it("'ambient' without any key are ERR_AUTH", async () => {
    await using pool = startPool()
    await refusal(pool.acquire({ ...sshd.target, identity: 'ambient' }), 'ERR_AUTH', 'auth')
  })
})
