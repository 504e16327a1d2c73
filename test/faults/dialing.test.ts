import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { Target } from '../../src/index.ts'
import { census } from '../../src/testing/index.ts'
import { clientOf, ending } from '../channels/world.ts'
import { makePool, rejection } from '../pool/world.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { startRelay } from '../support/relay.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit } from '../support/tarpit.ts'
import { until } from '../support/until.ts'
import { fetchBy, sshProcesses, TRANSPORTS } from './world.ts'

for (const transport of TRANSPORTS)
  describe(`faults while dialling (${transport})`, () => {
    let sshd: Sshd
    let origin: Origin

    before(async () => {
      ;[sshd, origin] = await Promise.all([startSshd(), startOrigin()])
    })
    after(() => Promise.all([sshd.close(), origin.close()]))

    it('B05: dials that time out, one after the other and ten at once, are collected before they are told', async () => {
      await using tarpit = await startTarpit()
      const atOnce = 10
      const rounds = transport === 'ssh2' ? 10 : 2
      await using pool = makePool({ transport, openTimeoutMillis: 200, maxOpening: atOnce, maxOpeningPerAddress: atOnce })
      const target: Target = { ...sshd.target, host: tarpit.host, port: tarpit.port }
      for (let round = 0; round < rounds; round += 1) {
        const errors = await Promise.all(
          Array.from({ length: atOnce }, () => rejection(pool.acquire(target, { exclusive: true, whenResting: 'dial' }))),
        )
        for (const { code, stack, cause } of errors)
          assert.ok(['ERR_OPEN_TIMEOUT', 'ERR_ACQUIRE_TIMEOUT', 'ERR_CIRCUIT_OPEN'].includes(code), `${stack} ${String(cause)}`)
        assert.ok(sshProcesses().length <= atOnce)
        pool.reset(target)
      }
      await pool.close({ timeoutMillis: 0 })
      assert.deepEqual(sshProcesses(), [])
      assert.equal((await census()).zombies, 0)
    })

    it('B14: a good key with a busy local port, or a bad key with a free one: no session and no listener stays', async () => {
      await using busy = await startTarpit()
      await using pool = makePool({ transport })
      const rounds = transport === 'ssh2' ? 20 : 3
      const bad: Target = { ...sshd.target, user: 'nobody' }
      for (let round = 0; round < rounds; round += 1) {
        const forwards = { web: { to: { port: origin.port }, listen: { port: busy.port } } }
        const refused = await rejection(pool.acquire(sshd.target, { forwards, exclusive: true }), 'ERR_ADDRESS_IN_USE')
        assert.match(refused.message, /web/)
        pool.reset(bad)
        await rejection(pool.acquire(bad, { forwards: { web: { to: { port: origin.port }, listen: 'tcp' } } }), 'ERR_AUTH')
      }
      await until(
        () => {
          assert.deepEqual(
            pool.resources().filter(({ owner }) => owner !== 'pool'),
            [],
          )
          return true
        },
        {
          what: 'only the pool’s own stays',
        },
      )
      await until(() => sshd.sessions().length === 0)
    })

    it('B32: what is acquired can be used in the very tick in which it is told, however slow the login is', async () => {
      await using relay = await startRelay(sshd)
      relay.delay(30)
      const target = relay.through(sshd.target)
      const rounds = transport === 'ssh2' ? 5 : 2
      for (let round = 0; round < rounds; round += 1) {
        await using pool = makePool({ transport })
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => pool.use(target, (lease) => fetchBy(lease, origin.port))),
        )
        for (const answer of answers) assert.match(answer, /200 OK/)
      }
    })

    it('B47: a key that is none, or wants a passphrase, is a typed rejection that no retry mends', async () => {
      const { privateKey } = generateKeyPairSync('ed25519')
      const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hidden' })
      await using pool = makePool({ transport })
      for (const key of [
        '-----BEGIN OPENSSH PRIVATE KEY-----\ngarbage\n-----END OPENSSH PRIVATE KEY-----\n',
        String(encrypted),
      ]) {
        const target: Target = { ...sshd.target, identity: { key } }
        const error = await rejection(pool.acquire(target).then((lease) => lease.release()))
        assert.ok(['ERR_KEY_FORMAT', 'ERR_INVALID_OPTION'].includes(error.code), error.code)
        assert.equal(error.retryable, false)
      }
    })

    it('B47: a local connection that comes in the tick of the loss is cut, and nothing is thrown', async () => {
      await using relay = await startRelay(sshd)
      await using pool = makePool({ transport })
      const rounds = transport === 'ssh2' ? 10 : 3
      for (let round = 0; round < rounds; round += 1) {
        const lease = await pool.acquire(relay.through(sshd.target), { forwards: { web: { to: { port: origin.port } } } })
        const before = clientOf(lease.forwards.web.address)
        relay.reset()
        const after = clientOf(lease.forwards.web.address)
        await Promise.all([ending(before), ending(after)])
        for (const client of [before, after]) client.destroy()
        await until(() => lease.signal.aborted)
        lease.release()
      }
    })
  })
