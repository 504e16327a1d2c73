import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { TcpAddress, UnixAddress } from '../../src/api/forward.ts'
import type { TunnelPool } from '../../src/api/pool.ts'
import { closeServer } from '../../src/testing/server.ts'
import { startPool } from '../support/pool.ts'
import { curl } from '../support/run.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'
import { startTcpServer } from '../support/tcp-server.ts'
import { until } from '../support/until.ts'
import { clientOf, ending, kept, refusals } from './world.ts'

const CREDENTIALS = { username: 'al ice', password: 'pass:wörd' }
/** Errors of CURLE_PROXY and CURLE_COULDNT_CONNECT: it says the reply code in words. */
const CURL_PROXY = 97
const proxyOf = ({ host, port }: TcpAddress) => `${host}:${port}`

/** What the server of a socket has answered to bytes sent at once, in hex, until it ended. */
async function dialogue(address: UnixAddress | TcpAddress, ...said: Buffer[]): Promise<string> {
  const client = clientOf(address)
  const heard: Buffer[] = []
  client.on('data', (chunk: Buffer) => heard.push(chunk))
  for (const bytes of said) client.write(bytes)
  await ending(client)
  client.destroy()
  return Buffer.concat(heard).toString('hex')
}
const request = (command: number, ...to: number[]) => Buffer.from([5, command, 0, ...to])
const GREETING = Buffer.from([5, 1, 0])
const refusedWith = (code: number) => `0500050${code}0001000000000000`

for (const transport of ['ssh2', 'openssh'] as const) {
  describe(`dynamic forwards, on sshd, ${transport}`, () => {
    let sshd: Sshd
    const web = createServer((asked, answer) => answer.end(`you asked ${asked.headers.host} for ${asked.url}`))
    let webPort = 0
    before(async () => {
      sshd = await startSshd()
      web.listen(0, '127.0.0.1')
      await once(web, 'listening')
      webPort = (web.address() as AddressInfo).port
    })
    after(async () => {
      web.closeAllConnections()
      await Promise.all([sshd.close(), closeServer(web)])
    })

    it('curl reaches what the server sees: by name, by address, over TCP and a unix socket', async () => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target, {
        forwards: {
          login: { socks: CREDENTIALS, listen: 'tcp' },
          open: { socks: true, listen: 'tcp', insecure: true },
          unix: { socks: true },
        },
      })
      const { login, open, unix } = lease.forwards
      for (const forward of [login, open, unix]) assert.equal(forward.kind, 'dynamic')
      const user = ['--proxy-user', `${CREDENTIALS.username}:${CREDENTIALS.password}`]
      // The name is looked up on the server, the address is sent as one.
      for (const host of ['localhost', '127.0.0.1']) {
        const url = `http://${host}:${webPort}/path`
        const answer = `you asked ${host}:${webPort} for /path`
        assert.deepEqual(await curl('--socks5-hostname', proxyOf(login.address), ...user, url), {
          code: 0,
          stdout: answer,
          stderr: '',
        })
        assert.equal((await curl('--socks5-hostname', proxyOf(open.address), url)).stdout, answer)
        assert.equal((await curl('--proxy', `socks5h://localhost${unix.address.socketPath}`, url)).stdout, answer)
      }
      assert.deepEqual(refusals(pool), [])
    })

    it('without the right name and password nobody gets through, and none of both is ever shown', async () => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target, { forwards: { login: { socks: CREDENTIALS, listen: 'tcp' } } })
      const proxy = proxyOf(lease.forwards.login.address)
      const url = `http://127.0.0.1:${webPort}/`
      for (const user of ['al ice:pass:word', 'al ice:pass:wörd2', 'alice:pass:wörd', 'al ice:x'])
        assert.equal((await curl('--socks5-hostname', proxy, '--proxy-user', user, url)).code, CURL_PROXY, user)
      const without = await curl('--socks5-hostname', proxy, url)
      assert.equal(without.code, CURL_PROXY)
      assert.equal(await dialogue(lease.forwards.login.address, GREETING), '05ff')
      // Nobody goes on without a login.
      assert.equal(
        await dialogue(lease.forwards.login.address, Buffer.from([5, 1, 2]), request(1, 1, 127, 0, 0, 1, 0, 80)),
        '0502',
      )
      const shown = inspect([pool, lease, pool.report(), pool.resources()], { depth: 9, showHidden: true })
      assert.ok(!shown.includes('pass:w'))
    })

    it('says in its reply why not: refused, prohibited, no such name, no such command or kind of address', async () => {
      await using limited = await startSshd({ config: { PermitOpen: `127.0.0.1:${webPort}` } })
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target, { forwards: { unix: { socks: true } } })
      await using tight = await pool.acquire(limited.target, { forwards: { unix: { socks: true } } })
      const told = refusals(pool)
      const { address } = lease.forwards.unix
      const name = 'no.such.host.invalid'
      const port = [webPort >> 8, webPort & 255]
      assert.equal(await dialogue(address, GREETING, request(1, 1, 127, 0, 0, 1, 0, 1)), refusedWith(5))
      assert.equal(await dialogue(tight.forwards.unix.address, GREETING, request(1, 1, 127, 0, 0, 1, 0, 1)), refusedWith(2))
      assert.equal(await dialogue(address, GREETING, request(1, 3, name.length, ...Buffer.from(name), 0, 80)), refusedWith(4))
      assert.deepEqual(
        told.map(({ error, to }) => [error.code, 'port' in to && to.port]),
        [
          ['ERR_CHANNEL_REFUSED', 1],
          ['ERR_PROHIBITED', 1],
          ['ERR_CHANNEL_REFUSED', 80],
        ],
      )
      assert.equal(await dialogue(address, GREETING, request(2, 1, 127, 0, 0, 1, ...port)), refusedWith(7))
      assert.equal(await dialogue(address, GREETING, request(3, 1, 127, 0, 0, 1, ...port)), refusedWith(7))
      assert.equal(await dialogue(address, GREETING, request(1, 9)), refusedWith(8))
      assert.equal(await dialogue(address, GREETING, request(1, 3, 3, 97, 32, 98, 0, 80)), refusedWith(1))
      assert.equal(told.length, 3)
    })

    it('what is no SOCKS5 is cut at its first wrong byte, and nothing stays open', async () => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target, { forwards: { unix: { socks: true } } })
      const { address } = lease.forwards.unix
      assert.equal(await dialogue(address, Buffer.from('GET / HTTP/1.1\r\n')), '')
      assert.equal(await dialogue(address, Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])), '')
      await until(() => kept(pool, 'socket').every((label) => !label.startsWith('client')))
      assert.deepEqual(kept(pool, 'channel'), [])
    })

    it('takes words in any pieces, and passes on what a client sends before it was told yes', async () => {
      await using echo = await startTcpServer((socket) => void socket.pipe(socket))
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target, { forwards: { unix: { socks: true } } })
      const hello = Buffer.concat([GREETING, request(1, 1, 127, 0, 0, 1, echo.port >> 8, echo.port & 255), Buffer.from('early')])
      const { address } = lease.forwards.unix
      const expected = `${refusedWith(0)}${Buffer.from('early').toString('hex')}`
      for (const pieces of [[hello], [...hello].map((byte) => Buffer.from([byte]))]) {
        const client = clientOf(address).setNoDelay()
        const heard: Buffer[] = []
        client.on('data', (chunk: Buffer) => heard.push(chunk))
        for (const piece of pieces) await new Promise((sent) => client.write(piece, sent))
        client.end()
        assert.equal(await ending(client), 'end')
        assert.equal(Buffer.concat(heard).toString('hex'), expected)
      }
    })

    it('who says nothing is cut when its time is up', async () => {
      await using pool: TunnelPool = startPool({ transport, channelTimeoutMillis: 200 })
      await using lease = await pool.acquire(sshd.target, { forwards: { login: { socks: CREDENTIALS, listen: 'tcp' } } })
      for (const said of [Buffer.alloc(0), Buffer.from([5]), Buffer.from([5, 1, 2]), Buffer.from([5, 1, 2, 1, 200])]) {
        const client = clientOf(lease.forwards.login.address)
        client.write(said)
        assert.equal(await ending(client), 'ECONNRESET')
      }
      await until(() => kept(pool, 'socket').every((label) => !label.startsWith('client')))
    })

    it('is shared by equal specs, and not by those with another password', async () => {
      await using pool = startPool({ transport })
      await using lease = await pool.acquire(sshd.target)
      const one = await lease.forward({ socks: CREDENTIALS, listen: 'tcp' })
      const same = await lease.forward({ socks: { ...CREDENTIALS }, listen: 'tcp' })
      const other = await lease.forward({ socks: { ...CREDENTIALS, password: 'another' }, listen: 'tcp' })
      assert.deepEqual(same.address, one.address)
      assert.notEqual(other.address.port, one.address.port)
    })
  })
}
