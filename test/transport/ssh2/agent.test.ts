import assert from 'node:assert/strict'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Identity } from '../../../src/index.ts'
import { makeUserKey, type UserKey } from '../../support/identity-keys.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { type SshAgent, startAgent } from '../../support/ssh-agent.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'

describe('ssh2: an agent', () => {
  let sshd: Sshd
  let agent: SshAgent
  const foreign = Array.from({ length: 8 }, () => makeUserKey('ed25519'))
  const known = makeUserKey('ed25519')
  const rsa = makeUserKey('rsa')
  const environment = process.env.SSH_AUTH_SOCK

  before(async () => {
    sshd = await startSshd({ config: { MaxAuthTries: '3' } })
    await appendFile(join(sshd.directory, 'authorized_keys'), `${known.public}\n${rsa.public}\n`)
    agent = await startAgent([...foreign, known, rsa].map((key) => key.private))
  })

  after(async () => {
    await agent.close()
    await sshd.close()
  })

  afterEach(() => {
    if (environment === undefined) delete process.env.SSH_AUTH_SOCK
    else process.env.SSH_AUTH_SOCK = environment
  })

  /** Fingerprints of the keys that the server was offered meanwhile, in order. */
  async function offered(during: () => Promise<unknown>): Promise<string[]> {
    const from = sshd.log().length
    await during()
    const lines = sshd.log().slice(from).split('\n')
    return lines.flatMap((line) => /^(?:Failed|Postponed|Accepted) publickey .* (SHA256:\S+)/.exec(line)?.[1] ?? [])
  }

  async function logsIn(identity: Identity | Identity[]): Promise<void> {
    await using pool = startPool()
    await using lease = await pool.acquire({ ...sshd.target, identity })
    assert.equal(lease.signal.aborted, false)
  }

  const only = (key: UserKey): Identity => ({ agent: agent.socketPath, publicKeys: [key.public] })

  it('B57: with eight foreign keys offers exactly the one that is named, by path', async () => {
    assert.equal((await offered(() => logsIn(only(known)))).length, 1)
  })

  it('signs with an RSA key, too', async () => {
    await logsIn(only(rsa))
  })

  it('by `true` is the one of SSH_AUTH_SOCK, read at the dial', async () => {
    process.env.SSH_AUTH_SOCK = agent.socketPath
    await logsIn({ agent: true, publicKeys: [known.public] })
  })

  it('by `true` without SSH_AUTH_SOCK is ERR_AGENT', async () => {
    delete process.env.SSH_AUTH_SOCK
    await using pool = startPool()
    const error = await refusal(pool.acquire({ ...sshd.target, identity: { agent: true } }), 'ERR_AGENT', 'auth')
    assert.match(error.message, /SSH_AUTH_SOCK/)
  })

  it('offers its keys in the order they are named, and none it does not hold', async () => {
    const [first, second] = foreign
    assert.ok(first && second)
    const keys = [second, makeUserKey('ed25519'), first, known].map((key) => key.public)
    const seen = await offered(() => logsIn({ agent: agent.socketPath, publicKeys: keys }))
    assert.equal(seen.length, 3)
    assert.equal(new Set(seen).size, 3)
    const again = await offered(() =>
      logsIn({ agent: agent.socketPath, publicKeys: [first.public, second.public, known.public] }),
    )
    assert.deepEqual([again[1], again[0], again[2]], seen)
  })

  it('that is asked for all of its keys runs into MaxAuthTries: ERR_AUTH', async () => {
    await using pool = startPool()
    await refusal(pool.acquire({ ...sshd.target, identity: { agent: agent.socketPath } }), 'ERR_AUTH', 'auth')
  })

  it('without a key that is named goes on to the next identity', async () => {
    const nowhere = only(makeUserKey('ed25519'))
    assert.equal((await offered(() => logsIn([nowhere, { key: known.private }]))).length, 1)
  })

  it('holds no connection once the login is done', async () => {
    await using pool = startPool()
    await using _lease = await pool.acquire({ ...sshd.target, identity: only(known) })
    assert.deepEqual(
      pool.resources().filter(({ kind }) => kind === 'agent'),
      [],
    )
  })
})
