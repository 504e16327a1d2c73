import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import type { Connection } from 'ssh2'
import { type Insides, sendRaw, startHostile } from '../../support/hostile.ts'
import { makeUserKey } from '../../support/identity-keys.ts'
import { refusal, startPool } from '../../support/pool.ts'
import { until } from '../../support/until.ts'

/** RFC 4250, section 4.1.2. */
const DISCONNECT = 1
const USERAUTH_BANNER = 53
const USERAUTH_PK_OK = 60
const CHANNEL_OPEN_FAILURE = 92
/** Clears a terminal, rings, and more that no log should hold. */
const DIRTY = '\u001b[2J\u0007\u0000\u009b31mred\u2028\r\nforged line'
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/

/** Nothing of it, its causes included, holds what a terminal would obey. */
function assertClean(error: Error): void {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    assert.doesNotMatch(each.message, CONTROL)
    assert.ok(each.message.length < 700, `${each.message.length} characters`)
  }
  assert.doesNotMatch(inspect(error, { depth: null, colors: false }), CONTROL)
}

type Lists = Readonly<Record<string, { readonly array: readonly string[] }>>

/** Keeps no strict key exchange, as servers before 2024 do. */
function weaken(insides: Insides): void {
  const { KexInit } = createRequire(import.meta.url)('ssh2/lib/protocol/kex.js')
  const { kex, serverHostKey, cs, sc } = (
    insides._offer as { lists: { kex: Lists['']; serverHostKey: Lists['']; cs: Lists; sc: Lists } }
  ).lists
  const arrays = (lists: Lists) => Object.fromEntries(Object.entries(lists).map(([name, { array }]) => [name, array]))
  const weak = kex?.array.filter((name) => !name.startsWith('kex-strict'))
  insides._offer = new KexInit({ kex: weak, serverHostKey: serverHostKey?.array, cs: arrays(cs), sc: arrays(sc) })
  insides._strictMode = false
}

describe('ssh2: a hostile server at login', () => {
  for (const [what, algorithms] of [
    ['chacha20-poly1305', { cipher: ['chacha20-poly1305@openssh.com'] }],
    ['an encrypt-then-MAC', { cipher: ['aes128-ctr'], hmac: ['hmac-sha2-256-etm@openssh.com'] }],
  ] as const) {
    it(`that wants ${what} without strict key exchange (Terrapin) is ERR_KEX and gets no identity`, async () => {
      let logins = 0
      await using host = await startHostile({
        config: { algorithms: algorithms as never },
        serve: (_connection, insides) => weaken(insides),
        authenticate: (context) => {
          logins += 1
          context.accept()
        },
      })
      await using pool = startPool()
      const error = await refusal(pool.acquire(host.target), 'ERR_KEX', 'kex')
      assert.match(error.message, /Terrapin/)
      await until(() => host.open === 0)
      assert.equal(logins, 0)
    })
  }

  it('without strict key exchange is no danger by AES-GCM', async () => {
    await using host = await startHostile({
      config: { algorithms: { cipher: ['aes128-gcm@openssh.com'] } },
      serve: (_connection, insides) => weaken(insides),
    })
    await using pool = startPool()
    await using _lease = await pool.acquire(host.target)
  })

  it('that asks for signature after signature is ERR_PROTOCOL', async () => {
    const key = makeUserKey('ed25519')
    const blob = Buffer.from(key.public.split(' ')[1] ?? '', 'base64')
    await using host = await startHostile({
      authenticate: (_context, connection) => {
        for (let count = 0; count < 100; count += 1) sendRaw(connection, USERAUTH_PK_OK, 'ssh-ed25519', blob)
      },
    })
    await using pool = startPool()
    await refusal(pool.acquire({ ...host.target, identity: { key: key.private } }), 'ERR_PROTOCOL', 'auth')
  })

  it('that goes on with the login after its end is cut off', async () => {
    await using host = await startHostile()
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    sendRaw(connectionOf(host.connections), USERAUTH_BANNER, 'by the way', '')
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_PROTOCOL')
  })

  it('that says goodbye and stays is left', async () => {
    await using host = await startHostile({ stays: true })
    await using pool = startPool()
    await using lease = await pool.acquire(host.target)
    sendRaw(connectionOf(host.connections), DISCONNECT, 11, 'bye', '')
    await until(() => lease.signal.aborted)
    assert.equal(lease.signal.reason.code, 'ERR_LOST')
    await until(() => pool.resources().every(({ kind }) => kind !== 'socket'))
  })

  for (const [what, text] of [
    ['control characters', DIRTY],
    ['a novel', 'x'.repeat(20_000)],
  ] as const) {
    it(`that says goodbye with ${what}, before or after login, gets neither into an error`, async () => {
      await using early = await startHostile({
        authenticate: (_context, connection) => sendRaw(connection, DISCONNECT, 7, text, ''),
      })
      await using late = await startHostile()
      await using pool = startPool()
      assertClean(await refusal(pool.acquire(early.target), 'ERR_RESET', 'auth'))
      await using lease = await pool.acquire(late.target)
      sendRaw(connectionOf(late.connections), DISCONNECT, 2, text, '')
      await until(() => lease.signal.aborted)
      assertClean(lease.signal.reason)
    })

    it(`that refuses a channel with ${what} gets neither into an error`, async () => {
      await using host = await startHostile({
        serve: (connection, insides) => {
          insides._handlers.CHANNEL_OPEN = ((_protocol: unknown, info: { sender: number }) =>
            sendRaw(connection, CHANNEL_OPEN_FAILURE, info.sender, 2, text, '')) as never
        },
      })
      await using pool = startPool()
      await using lease = await pool.acquire(host.target)
      assertClean(await refusal(lease.connect({ port: 80 }), 'ERR_CHANNEL_REFUSED', 'channel'))
    })
  }

  it('that sends its banner full of control characters is not quoted', async () => {
    await using host = await startHostile({
      config: { greeting: DIRTY.replace(/[\r\n]/g, '') },
      authenticate: (context, connection) => {
        sendRaw(connection, USERAUTH_BANNER, DIRTY, '')
        context.reject(['publickey'])
      },
    })
    await using pool = startPool()
    assertClean(await refusal(pool.acquire(host.target), 'ERR_AUTH', 'auth'))
  })

  it('whose goodbye reads like one of our own errors decides no more than where it came', async () => {
    const words = 'Host denied (verification failed): no matching host key'
    await using host = await startHostile({ serve: (connection) => sendRaw(connection, DISCONNECT, 3, words, '') })
    await using pool = startPool()
    const error = await refusal(pool.acquire(host.target), 'ERR_KEX', 'kex')
    assert.equal(error.code, 'ERR_KEX')
    assert.equal(pool.health(host.target).state, 'resting')
  })
})

function connectionOf([connection]: readonly Connection[]): Connection {
  assert.ok(connection)
  return connection
}
