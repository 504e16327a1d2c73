import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TunnelError } from '../../../../src/errors.ts'
import { Ledger } from '../../../../src/owners/ledger.ts'
import { Scope } from '../../../../src/owners/scope.ts'
import type { Credential } from '../../../../src/transport/openssh/agent/credential.ts'
import { FrameReader } from '../../../../src/transport/openssh/agent/frames.ts'
import { type AgentDuty, LoginAgent } from '../../../../src/transport/openssh/agent/serve.ts'
import { string, uint32, WireReader } from '../../../../src/transport/openssh/wire.ts'
import { until } from '../../../support/until.ts'

const hostKey = Buffer.from('the host')
const blob = Buffer.from('the key')
const loginOf = (user: string) =>
  Buffer.concat([
    ...[
      string(Buffer.alloc(32)),
      Buffer.from([50]),
      string(user),
      string('ssh-connection'),
      string('publickey'),
      Buffer.from([1]),
    ],
    ...[string('ssh-ed25519'), string(blob)],
  ])
const signRequest = (user: string) => Buffer.concat([Buffer.from([13]), string(blob), string(loginOf(user)), uint32(0)])
const FAILURE = [5]

describe('LoginAgent', () => {
  let scope: Scope
  let directory: string
  let told: unknown[]
  const sockets: Socket[] = []

  beforeEach(() => {
    scope = new Scope(new Ledger(), 'test')
    directory = mkdtempSync(join(tmpdir(), 'login-agent-'))
    told = []
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    scope.force()
    await scope.emptied()
    rmSync(directory, { recursive: true })
  })

  const key: Credential = { blob, comment: 'k', sign: async () => Buffer.from('signature') }
  const serve = (more: Partial<AgentDuty> = {}) =>
    LoginAgent.serve({
      path: join(directory, 'a'),
      scope,
      user: 'ops',
      hostKey: async () => hostKey,
      credentials: async () => [key],
      asked: () => told.push('asked'),
      fail: (error) => told.push(error),
      noteTrouble: (error) => told.push(error),
      ...more,
    })

  /** A client of the agent: asks one thing after another. */
  function client() {
    const socket = connect(join(directory, 'a'))
    sockets.push(socket)
    const answers: Buffer[] = []
    let isClosed = false
    const frames = new FrameReader()
    socket.on('data', (chunk: Buffer) => answers.push(...(frames.push(chunk) ?? [])))
    socket.on('close', () => {
      isClosed = true
    })
    socket.on('error', () => {})
    const ask = async (request: Buffer): Promise<number[] | undefined> => {
      socket.write(string(request))
      await until(() => answers.length > 0 || isClosed)
      const answer = answers.shift()
      return answer && [...answer]
    }
    return { socket, ask, isClosed: () => isClosed }
  }

  it('lists the keys, in their order', async () => {
    await serve({ credentials: async () => [key, { ...key, blob: Buffer.from('second') }] })
    const answer = new WireReader(Buffer.from((await client().ask(Buffer.from([11]))) ?? []))
    assert.deepEqual(
      [answer.byte(), answer.uint32(), answer.text(), answer.text(), answer.text()],
      [12, 2, 'the key', 'k', 'second'],
    )
    assert.deepEqual(told, ['asked'])
  })

  it('signs a login', async () => {
    await serve()
    const answer = Buffer.from((await client().ask(signRequest('ops'))) ?? [])
    assert.deepEqual([answer[0], new WireReader(answer.subarray(1)).text()], [14, 'signature'])
  })

  it('refuses another user, and goes on', async () => {
    await serve()
    const { ask } = client()
    assert.deepEqual(await ask(signRequest('root')), FAILURE)
    assert.equal((await ask(signRequest('ops')))?.[0], 14)
  })

  it('signs eight times, over all its connections, and not once more', async () => {
    await serve()
    for (let round = 0; round < 8; round += 1) assert.equal((await client().ask(signRequest('ops')))?.[0], 14)
    assert.deepEqual(await client().ask(signRequest('ops')), FAILURE)
  })

  it('refuses whatever else an agent can do, body and all (session-bind of OpenSSH 8.9 comes first)', async () => {
    await serve()
    const { ask } = client()
    const sessionBind = Buffer.concat([Buffer.from([27]), string('session-bind@openssh.com'), string(Buffer.alloc(500))])
    assert.deepEqual(await ask(sessionBind), FAILURE)
    for (const type of [1, 9, 17, 18, 19, 20, 21, 22, 23, 25, 26, 255])
      assert.deepEqual(await ask(Buffer.from([type, 1, 2])), FAILURE)
    assert.equal((await ask(Buffer.from([11])))?.[0], 12)
  })

  it('shows and signs nothing before the host is known to be the right one', async () => {
    let reveal: (key: Buffer) => void = () => {}
    const known = new Promise<Buffer>((resolve) => {
      reveal = resolve
    })
    await serve({ hostKey: () => known })
    const listing = client().ask(Buffer.from([11]))
    const signing = client().ask(signRequest('ops'))
    assert.equal(
      await Promise.race([listing, signing, new Promise((resolve) => setImmediate(() => resolve('nothing')))]),
      'nothing',
    )
    reveal(hostKey)
    assert.equal((await listing)?.[0], 12)
    assert.equal((await signing)?.[0], 14)
  })

  it('at the wrong host ends the dial', async () => {
    const error = new TunnelError('ERR_HOST_KEY', 'not this one')
    await serve({ hostKey: () => Promise.reject(error) })
    assert.deepEqual(await client().ask(Buffer.from([11])), FAILURE)
    assert.ok(told.includes(error))
  })

  for (const [what, bytes] of [
    ['that announces more than anybody sends', uint32(1 << 20)],
    ['of no length', uint32(0)],
    ['in another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ] as const) {
    it(`hangs up on a message ${what}`, async () => {
      await serve()
      const { socket, isClosed } = client()
      socket.write(bytes)
      await until(isClosed)
    })
  }

  it('is closed when the login is over: nobody is served any longer, and nothing is left', async () => {
    const agent = await serve()
    const { ask, isClosed } = client()
    assert.equal((await ask(Buffer.from([11])))?.[0], 12)
    agent.close()
    agent.close()
    await until(isClosed)
    await scope.emptied()
    const late = client()
    await until(late.isClosed)
  })

  it('that signs for the last moment does not sign after it', async () => {
    let sign: () => void = () => {}
    const agent = await serve({
      hostKey: () =>
        new Promise((resolve) => {
          sign = () => resolve(hostKey)
        }),
    })
    const { ask } = client()
    const answer = ask(signRequest('ops'))
    await until(() => scope.entries().length > 1)
    agent.close()
    sign()
    assert.equal(await answer, undefined)
  })
})
