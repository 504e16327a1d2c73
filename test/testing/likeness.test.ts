import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Target } from '../../src/api/target.ts'
import { type Fleet, startFleet } from '../../src/testing/index.ts'
import { type Origin, startOrigin } from '../support/origin.ts'
import { collected, RawClient } from '../support/raw-client.ts'
import { type Sshd, startSshd } from '../support/sshd.ts'

/** What one server does, told in words that can be compared. */
type Observation = (raw: RawClient, origin: Origin) => Promise<unknown>

const refusal = (open: Promise<unknown>): Promise<unknown> =>
  open.then(
    () => 'opened',
    (error) => `${error.reason}: ${error.message}`,
  )

const OBSERVATIONS: Record<string, Observation> = {
  'a port on which nobody listens': (raw) => refusal(raw.channel(1)),
  'the same by name': (raw) => refusal(raw.channel(1, 'localhost')),
  'the same over IPv6': (raw) => refusal(raw.channel(1, '::1')),
  'a name that does not exist': (raw) => refusal(raw.channel(1, 'no.such.host.invalid')),
  'a unix socket that does not exist': (raw) => refusal(raw.socketChannel('/no/such/socket')),
  'a unix socket': async (raw, origin) => {
    const channel = await raw.socketChannel(origin.socketPath ?? '')
    channel.write('GET /health HTTP/1.0\r\n\r\n')
    return (await collected(channel)).toString().split('\r\n').at(-1)
  },
  'an answer after the FIN': async (raw, origin) => {
    const channel = await raw.channel(origin.halfClosePort)
    channel.write('half ')
    channel.end('closed')
    return (await collected(channel)).toString()
  },
  'the end of the server, and what is sent after it': async (raw, origin) => {
    const channel = await raw.channel(origin.port)
    channel.write('GET /health HTTP/1.0\r\n\r\n')
    await collected(channel)
    return channel.writable
  },
  'cancelling a forward that is none': (raw) =>
    new Promise((resolve) => raw.client.unforwardIn('127.0.0.1', 0, (error) => resolve(String(error)))),
  output: (raw) => raw.exec("echo one 'two  three'; echo four >&2"),
  'an exit status': (raw) => raw.exec('false; exit 7'),
  'a signal': (raw) => raw.exec('kill -KILL $$'),
  'a signal by number': (raw) => raw.exec('kill -9 $$'),
  input: (raw) => raw.exec('cat', 'to be copied'),
  'input that nobody wants': (raw) => raw.exec('cat > /dev/null; true', 'x'.repeat(100_000)),
  'much output': async (raw) => {
    const channel = await raw.session('head -c 5000000 /dev/zero')
    channel.resume()
    let bytes = 0
    channel.on('data', (part: Buffer) => {
      bytes += part.length
    })
    const [code] = await once(channel, 'close')
    return { bytes, code }
  },
}

describe('a fleet host and sshd do the same for', () => {
  let fleet: Fleet
  let sshd: Sshd
  let origin: Origin

  before(async () => {
    fleet = await startFleet()
    sshd = await startSshd()
    origin = await startOrigin({ unix: true })
  })

  after(() => Promise.all([fleet.close(), sshd.close(), origin.close()]))

  for (const [what, observe] of Object.entries(OBSERVATIONS)) {
    it(what, async () => {
      const observed = async (target: Target | undefined): Promise<unknown> => {
        assert.ok(target)
        await using raw = await RawClient.connect(target)
        return await observe(raw, origin)
      }
      const [ours, theirs] = await Promise.all([observed(fleet.targets[0]), observed(sshd.target)])
      assert.deepEqual(ours, theirs)
    })
  }
})
