import assert from 'node:assert/strict'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { Identity, Target } from '../../src/index.ts'
import { startHostile } from '../support/hostile.ts'
import { makePemKey, makeUserKey, type UserKey } from '../support/identity-keys.ts'
import { refusal, startPool } from '../support/pool.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit } from '../support/tarpit.ts'

const PASSPHRASE = 'correct horse'
const KEYS: ReadonlyArray<readonly [string, UserKey]> = [
  ['ed25519', makeUserKey('ed25519')],
  ['ecdsa', makeUserKey('ecdsa')],
  ['rsa', makeUserKey('rsa')],
  ['rsa in PEM', makePemKey()],
]
const ENCRYPTED: ReadonlyArray<readonly [string, UserKey]> = [
  ["OpenSSH's format", makeUserKey('ed25519', PASSPHRASE)],
  ['PEM', makePemKey(PASSPHRASE)],
]

/** Keeps a server from announcing the signatures it takes. */
function withoutExtInfo(insides: object): void {
  let kex: object | undefined
  Object.defineProperty(insides, '_kex', {
    get: () => kex,
    set: (made: object) => {
      kex = Object.defineProperty(made, 'remoteExtInfoEnabled', { get: () => false, set: () => {} })
    },
  })
}

describe('ssh2: a private key', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd()
    const lines = [...KEYS, ...ENCRYPTED].map(([, key]) => `${key.public}\n`)
    await appendFile(join(sshd.directory, 'authorized_keys'), lines.join(''))
  })

  after(() => sshd.close())

  async function logsIn(identity: Identity): Promise<void> {
    await using pool = startPool()
    await using lease = await pool.acquire({ ...sshd.target, identity })
    assert.equal(lease.signal.aborted, false)
  }

  async function file(content: string): Promise<string> {
    const path = join(sshd.directory, `key-${Math.random()}`)
    await writeFile(path, content, { mode: 0o600 })
    return path
  }

  for (const [type, key] of KEYS) {
    it(`of type ${type} logs in to sshd, as a file, as a string and as bytes`, async () => {
      await logsIn({ path: await file(key.private) })
      await logsIn({ key: key.private })
      await logsIn({ key: Buffer.from(key.private) })
    })
  }

  for (const [format, key] of ENCRYPTED) {
    it(`that is encrypted in ${format} logs in with its passphrase`, async () => {
      await logsIn({ path: await file(key.private), passphrase: PASSPHRASE })
      await logsIn({ key: key.private, passphrase: PASSPHRASE })
    })

    for (const [what, passphrase, message] of [
      ['a wrong one', 'battery staple', /passphrase is wrong/],
      ['none', undefined, /encrypted/],
    ] as const) {
      it(`that is encrypted in ${format} and comes with ${what} is ERR_KEY_FORMAT before anything is dialled`, async () => {
        await failsUndialled({ path: await file(key.private), passphrase }, message)
        await failsUndialled({ key: key.private, passphrase }, message)
      })
    }
  }

  it('that is none, or not there, is ERR_KEY_FORMAT before anything is dialled', async () => {
    await failsUndialled({ key: 'nonsense' }, /key/)
    await failsUndialled({ key: makeUserKey('ed25519').public }, /public key/)
    await failsUndialled({ path: '/nonexistent/id_ed25519' }, /no such file/)
  })

  it('in a file is read again when the file has changed', async () => {
    const path = await file(makeUserKey('ed25519').private)
    const identity = { path }
    await using pool = startPool({ backoffMinMillis: 0, backoffMaxMillis: 0 })
    const target = { ...sshd.target, identity }
    await refusal(pool.acquire(target), 'ERR_AUTH', 'auth')
    await writeFile(path, makeUserKey('ecdsa').private)
    await writeFile(path, KEYS[0]?.[1].private ?? '')
    await using lease = await pool.acquire(target, { whenResting: 'wait' })
    assert.equal(lease.signal.aborted, false)
  })

  it('of type rsa never signs with SHA-1, not even for a server that does not say what it takes', async () => {
    const hashes: Array<string | undefined> = []
    await using host = await startHostile({
      serve: (_connection, insides) => withoutExtInfo(insides),
      authenticate: (context) => {
        if (context.method !== 'publickey') return context.reject(['publickey'])
        hashes.push(context.hashAlgo)
        return context.accept()
      },
    })
    await using pool = startPool()
    await using _lease = await pool.acquire({ ...host.target, identity: { key: makeUserKey('rsa').private } })
    assert.deepEqual([...new Set(hashes)], ['sha256'])
  })

  async function failsUndialled(identity: Identity, message: RegExp): Promise<void> {
    await using tarpit = await startTarpit()
    await using pool = startPool()
    const target: Target = { host: '127.0.0.1', port: tarpit.port, user: 'u', identity, hostKey: 'insecure-accept-any' }
    const error = await refusal(pool.acquire(target), 'ERR_KEY_FORMAT', 'auth')
    assert.match(error.message, message)
    assert.equal(error.retryable, false)
    assert.equal(tarpit.connections, 0)
    assert.doesNotMatch(inspect(error, { depth: null }), /battery staple|BEGIN/)
  }
})
