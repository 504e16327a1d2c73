import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StaticIdentity, Target } from '../../src/api/target.ts'
import { makeUserKey, type UserKey } from '../support/identity-keys.ts'
import { startAgent } from '../support/ssh-agent.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { until } from '../support/until.ts'
import { jumpOver, TRANSPORTS } from './chain.ts'
import { makePool, RESTS_LONG, rejection } from './world.ts'

for (const transport of TRANSPORTS)
  describe(`credentials, against sshd (${transport})`, () => {
    let sshd: Sshd
    let directory: string
    before(async () => {
      sshd = await startSshd()
      directory = mkdtempSync(join(tmpdir(), 'credentials-'))
    })
    after(async () => {
      rmSync(directory, { recursive: true, force: true })
      await sshd.close()
    })
    const permit = (...lines: string[]) =>
      writeFileSync(join(sshd.directory, 'authorized_keys'), lines.map((line) => `${line}\n`).join(''))
    const logins = () => sshd.log().match(/Accepted publickey/g)?.length ?? 0
    const by = (identity: Target['identity']): Target => ({ ...sshd.target, transport, identity })

    it('rotate: each dial logs in by the key that is loaded for it, and the old one is worth nothing', async () => {
      await using pool = makePool()
      let key: UserKey = makeUserKey('ed25519')
      let asked = 0
      const target = by({
        id: 'rotating',
        load: async () => {
          asked += 1
          return { key: key.private }
        },
      })
      for (let turn = 1; turn <= 3; turn += 1) {
        key = makeUserKey('ed25519')
        permit(key.public)
        const lease = await pool.acquire(target)
        assert.equal(asked, turn)
        sshd.killSessions()
        await until(() => lease.signal.aborted && pool.stats.tunnels.draining === 0)
      }
    })

    it('of a key that is not on its way yet fail, rest and are not barred; once it is there they log in', async () => {
      await using pool = makePool({ backoffMinMillis: 1, backoffMaxMillis: 1 })
      const key = makeUserKey('ed25519')
      permit()
      const target = by({ key: key.private })
      const rested = () => until(() => pool.health(target).state !== 'resting')
      for (let tries = 0; tries < 4; tries += 1) {
        await rejection(pool.acquire(target), 'ERR_AUTH')
        await rested()
      }
      permit(key.public)
      ;(await pool.acquire(target)).release()
      assert.equal(pool.health(target).state, 'serving')
    })

    it('that are wrong fail while a good tunnel to the same host is up, and do not touch it', async () => {
      const good = makeUserKey('ed25519')
      permit(good.public)
      await using pool = makePool(RESTS_LONG)
      await using lease = await pool.acquire(by({ key: good.private }))
      await rejection(pool.acquire(by({ key: makeUserKey('ed25519').private })), 'ERR_AUTH')
      await rejection(pool.acquire({ ...by({ key: good.private }), user: 'nobody-here' }), 'ERR_AUTH')
      assert.equal((await lease.exec('echo up')).stdout.toString(), 'up\n')
      assert.equal(pool.health(by({ key: good.private })).state, 'serving')
    })

    it('that differ in user, identity, jump or policy never share a connection; forwards alone always do', async () => {
      await using bastion = await startSshd()
      const keys = [makeUserKey('ed25519'), makeUserKey('ecdsa')]
      permit(...keys.map((key) => key.public))
      const [one, other] = keys.map((key) => ({ key: key.private }))
      assert.ok(one && other)
      const base = by(one)
      const distinct: Target[] = [
        base,
        { ...base, identity: other },
        { ...base, identity: [one, other] },
        { ...base, hostKey: 'accept-new' },
        { ...base, hostKeyAlias: 'elsewhere' },
        { ...base, jumps: [jumpOver(bastion.target)] },
      ]
      const before = logins()
      await using pool = makePool()
      const all = [...distinct, ...distinct.map((target) => ({ ...target, label: 'again' }))]
      const leases = await Promise.all(all.map((target) => pool.acquire(target)))
      assert.equal(new Set(leases.map(({ generation }) => generation)).size, distinct.length)
      assert.equal(logins() - before, distinct.length)
      const forwarding = await Promise.all(
        [{ web: { to: { port: 1 } } }, { db: { to: { port: 2 }, listen: 'tcp' } } as const].map((forwards) =>
          pool.acquire(base, { forwards }),
        ),
      )
      assert.deepEqual(
        forwarding.map(({ generation }) => generation),
        [leases[0]?.generation, leases[0]?.generation],
      )
      assert.equal(logins() - before, distinct.length)
      for (const lease of [...leases, ...forwarding]) lease.release()
    })

    it('in an agent: missing it is ERR_AGENT, started again at its place it is asked, and mute it ends the dial in time', async () => {
      const key = makeUserKey('ed25519')
      permit(key.public)
      const socketPath = join(directory, `agent-${transport}`)
      const target = by({ agent: socketPath })
      await using pool = makePool({ openTimeoutMillis: 2_500 })
      await rejection(pool.acquire(target), 'ERR_AGENT')
      for (let turn = 0; turn < 2; turn += 1) {
        await using _agent = await startAgent([key.private], socketPath)
        pool.reset(target)
        const lease = await pool.acquire(target)
        // Open, it needs no agent.
        assert.equal((await lease.exec('echo open')).stdout.toString(), 'open\n')
        sshd.killSessions()
        await until(() => lease.signal.aborted && pool.stats.tunnels.draining === 0)
      }
      await using mute = await startAgent([key.private], socketPath)
      process.kill(mute.pid, 'SIGSTOP')
      try {
        const error = await rejection(pool.acquire(target))
        assert.ok(['ERR_AGENT', 'ERR_OPEN_TIMEOUT'].includes(error.code), error.stack)
        assert.equal(error.phase, 'auth')
      } finally {
        process.kill(mute.pid, 'SIGCONT')
      }
      pool.reset(target)
      ;(await pool.acquire(target)).release()
    })

    const sign = (authority: string, key: UserKey, validity: string): string => {
      const file = join(directory, 'signed')
      writeFileSync(`${file}.pub`, `${key.public}\n`)
      execFileSync('ssh-keygen', ['-q', '-s', authority, '-I', 'warren', '-n', sshd.user, '-V', validity, `${file}.pub`], {
        stdio: 'ignore',
      })
      return readFileSync(`${file}-cert.pub`, 'utf8')
    }
    const makeAuthority = () => {
      const authority = makeUserKey('ed25519')
      const path = join(directory, 'authority')
      writeFileSync(path, authority.private, { mode: 0o600 })
      permit(`cert-authority ${authority.public}`)
      return path
    }

    if (transport === 'openssh')
      it('that are short-lived certificates log in while they are valid, and by a fresh one after that', async () => {
        const authority = makeAuthority()
        const key = makeUserKey('ed25519')
        let validity = '-1m:+5m'
        const target = by({
          id: 'vault',
          load: async (): Promise<StaticIdentity> => ({ key: key.private, certificate: sign(authority, key, validity) }),
        })
        await using pool = makePool(RESTS_LONG)
        const lease = await pool.acquire(target)
        validity = '20200101:20200102'
        // What is open stays so; who would follow it is not let in.
        await rejection(pool.retire(target), 'ERR_AUTH')
        assert.equal((await lease.exec('echo open')).stdout.toString(), 'open\n')
        validity = '-1m:+5m'
        const before = logins()
        const retiring = pool.retire(target)
        await until(() => logins() === before + 1)
        lease.release()
        await retiring
      })
    else
      it('that are certificates are ERR_UNSUPPORTED, with what to do instead: said at once, or when they are loaded', async () => {
        const authority = makeAuthority()
        const key = makeUserKey('ed25519')
        const identity = { key: key.private, certificate: sign(authority, key, '-1m:+5m') }
        await using pool = makePool()
        const before = logins()
        for (const given of [identity, { id: 'vault', load: async () => identity }]) {
          const error = await rejection(pool.acquire(by(given)), 'ERR_UNSUPPORTED')
          assert.match(error.message, /openssh/)
        }
        assert.equal(logins(), before)
      })
  })
