import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type { AuthContext, AuthenticationType, Prompt } from 'ssh2'
import { type Hostile, startHostile } from '../../support/hostile.ts'
import { refusal, startPool } from '../../support/pool.ts'

const PASSWORD = 'open sesame'
const HIDDEN: Prompt = { prompt: 'Password: ', echo: false }
const SHOWN: Prompt = { prompt: 'Name: ', echo: true }

/** What a server was sent; `methods` in order. */
interface Seen {
  readonly methods: string[]
  readonly answers: string[][]
}

/** Lets in by one of these methods; asks `prompts` by keyboard-interactive, one round each, and lets in who answers the first of all with the password. */
async function startServer(
  methods: readonly AuthenticationType[],
  rounds: readonly Prompt[][] = [[HIDDEN]],
): Promise<Hostile & Seen> {
  const seen: Seen = { methods: [], answers: [] }
  const ask = (context: AuthContext, [round, ...rest]: readonly Prompt[][]): void => {
    if (context.method !== 'keyboard-interactive' || round === undefined) return void context.accept()
    context.prompt(round, (answers) => {
      seen.answers.push(answers)
      if (seen.answers[0]?.[0] !== PASSWORD) context.reject([...methods])
      else ask(context, rest)
    })
  }
  const host = await startHostile({
    authenticate: (context) => {
      seen.methods.push(context.method)
      if (!methods.some((method) => method === context.method)) context.reject([...methods])
      else if (context.method === 'password' && context.password !== PASSWORD) context.reject([...methods])
      else ask(context, rounds)
    },
  })
  return Object.assign(host, seen)
}

describe('ssh2: a password', () => {
  it('logs in by the method of that name', async () => {
    await using host = await startServer(['password'])
    await using pool = startPool()
    await using _lease = await pool.acquire({ ...host.target, identity: { password: PASSWORD } })
    assert.deepEqual(host.methods, ['password'])
  })

  it('answers one hidden prompt of keyboard-interactive', async () => {
    await using host = await startServer(['keyboard-interactive'])
    await using pool = startPool()
    await using _lease = await pool.acquire({ ...host.target, identity: { password: PASSWORD } })
    assert.deepEqual(host.answers, [[PASSWORD]])
  })

  for (const [what, rounds] of [
    ['a prompt that shows what is typed', [[SHOWN]]],
    ['two prompts at once', [[HIDDEN, HIDDEN]]],
  ] as const) {
    it(`is not given to ${what}: ERR_AUTH`, async () => {
      await using host = await startServer(['keyboard-interactive'], rounds as unknown as Prompt[][])
      await using pool = startPool()
      await refusal(pool.acquire({ ...host.target, identity: { password: PASSWORD } }), 'ERR_AUTH', 'auth')
      assert.ok(!host.answers.flat().includes(PASSWORD))
    })
  }

  it('is given once: a second prompt gets no answer', async () => {
    await using host = await startServer(['keyboard-interactive'], [[HIDDEN], [HIDDEN]])
    await using pool = startPool()
    await pool.acquire({ ...host.target, identity: { password: PASSWORD } }).then(
      (lease) => lease.release(),
      () => {},
    )
    assert.equal(host.answers.flat().filter((answer) => answer === PASSWORD).length, 1)
  })

  it('is not offered to a server that takes none, and one that is wrong is ERR_AUTH without a word of it', async () => {
    await using keysOnly = await startServer(['publickey'])
    await using host = await startServer(['password'])
    await using pool = startPool()
    await refusal(pool.acquire({ ...keysOnly.target, identity: [{ password: PASSWORD }] }), 'ERR_AUTH', 'auth')
    assert.deepEqual(keysOnly.methods, ['password'])
    const error = await refusal(pool.acquire({ ...host.target, identity: { password: 'shibboleth' } }), 'ERR_AUTH', 'auth')
    assert.doesNotMatch(inspect(error, { depth: null }), /shibboleth/)
    assert.deepEqual(host.methods, ['password'])
  })

  it('that the server wants changed first is ERR_AUTH, and is not changed', async () => {
    await using host = await startHostile({
      authenticate: (context) => {
        if (context.method === 'password') context.requestChange('Change it', () => {})
        else context.reject(['password'])
      },
    })
    await using pool = startPool()
    const error = await refusal(pool.acquire({ ...host.target, identity: { password: PASSWORD } }), 'ERR_AUTH', 'auth')
    assert.match(error.message, /changed first/)
  })
})
