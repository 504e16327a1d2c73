import assert from 'node:assert/strict'
import type { Target, TunnelErrorCode } from '../../src/index.ts'
import { makePool, rejection } from '../pool/world.ts'
import { startOrigin } from '../support/origin.ts'
import { startRelay } from '../support/relay.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTarpit } from '../support/tarpit.ts'
import { fetchBy, TRANSPORTS } from './world.ts'

for (const transport of TRANSPORTS)
  describe(`what a failure is told as (${transport})`, () => {
    let sshd: Sshd

    before(async () => {
      sshd = await startSshd()
    })
    after(() => sshd.close())

    it('B41, B91: each cause of a failed dial has its code, phase and whether a retry may help, the same on both transports', async () => {
      await using tarpit = await startTarpit()
      await using pool = makePool({ transport, openTimeoutMillis: transport === 'openssh' ? 10_000 : 2_000 })
      // Else it is our deadline that ends it, and ssh has not said how far it was.
      const impatient: Partial<Target> = transport === 'openssh' ? { openssh: { options: { ConnectTimeout: '1' } } } : {}
      const causes: ReadonlyArray<[Partial<Target>, TunnelErrorCode, string, boolean]> = [
        [{ host: 'nosuch.invalid' }, 'ERR_DNS', 'dns', true],
        [{ port: 1 }, 'ERR_REFUSED', 'connect', true],
        [{ user: 'nobody' }, 'ERR_AUTH', 'auth', false],
        [{ hostKey: { pinned: `SHA256:${'A'.repeat(43)}` } }, 'ERR_HOST_KEY', 'hostkey', false],
        [{ identity: { path: '/nonexistent' } }, 'ERR_KEY_FORMAT', 'auth', false],
        [{ identity: { agent: '/nonexistent' } }, 'ERR_AGENT', 'auth', true],
        [{ host: tarpit.host, port: tarpit.port, ...impatient }, 'ERR_OPEN_TIMEOUT', 'banner', true],
      ]
      const told = await Promise.all(
        causes.map(async ([more]) => {
          const { code, phase, retryable } = await rejection(pool.acquire({ ...sshd.target, ...more }))
          return [code, phase, retryable]
        }),
      )
      assert.deepEqual(
        told,
        causes.map(([, ...expected]) => expected),
      )
    })

    it('B59: a changed host key ends a reconnect for good, with both fingerprints, until it is reset', async () => {
      await using changing = await startSshd()
      await using pool = makePool({ transport })
      ;(await pool.acquire(changing.target)).release()
      const pinned = changing.fingerprint
      await changing.rotateHostKey()
      await pool.retire(changing.target, { force: true }).catch(() => {})
      const error = await rejection(pool.acquire(changing.target, { whenResting: 'wait' }))
      const cause = error.code === 'ERR_CIRCUIT_OPEN' ? error.cause : error
      assert.match(
        String(cause),
        new RegExp(
          `(${escaped(pinned)}.*${escaped(changing.fingerprint)}|${escaped(changing.fingerprint)}.*${escaped(pinned)})`,
          's',
        ),
      )
      assert.equal(pool.health(changing.target).state, 'barred')
      assert.equal(error.retryable, false)
      const trusting: Target = { ...changing.target, hostKey: { pinned: changing.fingerprint } }
      ;(await pool.acquire(trusting)).release()
    })

    it('B65: a target that listens on ::1 or 127.0.0.1 alone is reached by that literal, and a tcp endpoint is 127.0.0.1', async () => {
      await using origin = await startOrigin({ ipv6: true })
      await using pool = makePool({ transport })
      await pool.use(sshd.target, async (lease) => {
        assert.match(await fetchBy(lease, origin.port), /200 OK/)
        const six = await lease.connect({ host: '::1', port: origin.ipv6Port ?? 0 })
        six.end('GET /health HTTP/1.0\r\n\r\n')
        let answer = ''
        for await (const part of six) answer += String(part)
        assert.match(answer, /200 OK/)
        const forward = await lease.forward({ to: { host: '::1', port: origin.ipv6Port ?? 0 }, listen: 'tcp' })
        assert.equal(forward.address.host, '127.0.0.1')
        await rejection(lease.connect({ host: '127.0.0.1', port: origin.ipv6Port ?? 0 }), 'ERR_CHANNEL_REFUSED')
      })
    })

    it('B82: a dead target is refused and costs no reconnect; a dead tunnel is lost, whatever the target does', async () => {
      await using relay = await startRelay(sshd)
      await using pool = makePool({ transport })
      const target = relay.through(sshd.target)
      const lease = await pool.acquire(target)
      for (let n = 0; n < 5; n += 1) await rejection(lease.connect({ port: 1 }), 'ERR_CHANNEL_REFUSED')
      assert.deepEqual([pool.stats.opened, pool.health(target).state], [1, 'serving'])
      relay.reset()
      const lost = await rejection(
        new Promise((_, reject) => lease.signal.addEventListener('abort', () => reject(lease.signal.reason))),
      )
      assert.ok(['ERR_LOST', 'ERR_RESET'].includes(lost.code), lost.code)
      lease.release()
    })
  })

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
