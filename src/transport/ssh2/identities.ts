import type { AnyAuthMethod, NextAuthHandler, Prompt } from 'ssh2'
import { TunnelError } from '../../errors.ts'
import type { ResolvedIdentity } from '../../target.ts'
import { loaded, usualKeyFiles } from '../loaded.ts'
import { privateKey } from '../private-key.ts'
import type { Dial } from '../transport.ts'
import { agentOf } from './agent.ts'

type Ssh2 = typeof import('ssh2')
/** Makes one method when its turn comes; `undefined`: nothing to offer here, go on. */
type Offer = (methodsLeft: readonly string[] | null) => Promise<AnyAuthMethod | undefined>

/** Answers one hidden prompt, once: what a server that asks for a password this way sends. Anything else gets no answer. */
function promptAnswerer(password: string) {
  let hasAnswered = false
  return (_name: string, _instructions: string, _language: string, prompts: Prompt[], finish: (answers: string[]) => void) => {
    const isPassword = prompts.length === 1 && prompts[0]?.echo !== true && !hasAnswered
    if (isPassword) hasAnswered = true
    finish(isPassword ? [password] : [])
  }
}

/** Says that an identity could not be made; the dial ends with it. */
type Fail = (error: unknown) => void

function offersOf(ssh2: Ssh2, identity: ResolvedIdentity, dial: Dial, fail: Fail): Offer[] {
  const username = dial.target.user
  switch (identity.kind) {
    case 'path':
    case 'key':
      return [
        async () =>
          ({ type: 'publickey', username, key: await privateKey(ssh2, identity, dial.signal) }) as unknown as AnyAuthMethod,
      ]
    case 'agent':
      return [
        async () => {
          const path = identity.socketPath ?? process.env.SSH_AUTH_SOCK
          if (path === undefined || path === '')
            throw new TunnelError('ERR_AGENT', 'identity `agent: true` needs SSH_AUTH_SOCK, which is not set', { phase: 'auth' })
          return { type: 'agent', username, agent: agentOf(ssh2, dial, { path, publicKeys: identity.publicKeys, trouble: fail }) }
        },
      ]
    case 'password': {
      const password = identity.password.reveal()
      const isLeft = (method: string, left: readonly string[] | null) => left === null || left.includes(method)
      return [
        async (left) => (isLeft('password', left) ? { type: 'password', username, password } : undefined),
        async (left) =>
          isLeft('keyboard-interactive', left)
            ? { type: 'keyboard-interactive', username, prompt: promptAnswerer(password) }
            : undefined,
      ]
    }
    case 'load':
      throw new TypeError('a loader is resolved before its offers are made')
    case 'ambient':
      return ambientOffers(ssh2, dial, fail)
  }
}

/** What OpenSSH would try by itself: of these none need be there, or usable. */
function ambientOffers(ssh2: Ssh2, dial: Dial, fail: Fail): Offer[] {
  const username = dial.target.user
  const path = process.env.SSH_AUTH_SOCK
  const agent: Offer = async () => ({
    type: 'agent',
    username,
    agent: agentOf(ssh2, dial, { path: path ?? '', publicKeys: undefined, trouble: (_error, skip) => skip() }),
  })
  const keys = usualKeyFiles().map((path): Offer => {
    const file = { kind: 'path', path, passphrase: undefined, certificate: undefined } as const
    const [offer] = offersOf(ssh2, file, dial, fail)
    return async (left) => await offer?.(left).catch(() => undefined)
  })
  return path === undefined || path === '' ? keys : [agent, ...keys]
}

/**
 * Reads and parses every key that is known beforehand, so that a bad one fails before a connection is made.
 * Rejects with `ERR_KEY_FORMAT`.
 */
export async function checkIdentities(ssh2: Ssh2, { target, signal }: Dial): Promise<void> {
  for (const identity of target.identities) {
    if (identity.kind !== 'path' && identity.kind !== 'key') continue
    await privateKey(ssh2, identity, signal)
  }
}

/** ssh2's authentication handler: exactly the identities of the target, in order, each made when its turn comes; `fail` hears why one could not be. */
export function authHandler(ssh2: Ssh2, dial: Dial, fail: Fail) {
  const identities = [...dial.target.identities]
  const offers: Offer[] = []
  const nextMethod = async (left: readonly string[] | null): Promise<AnyAuthMethod | false> => {
    for (;;) {
      const offer = offers.shift()
      if (offer !== undefined) {
        const method = await offer(left)
        if (method !== undefined) return method
        continue
      }
      const identity = identities.shift()
      if (identity === undefined) return false
      offers.push(...offersOf(ssh2, identity.kind === 'load' ? await loaded(identity, dial.signal) : identity, dial, fail))
    }
  }
  return (left: string[] | null, _partial: boolean | null, next: NextAuthHandler): void => {
    nextMethod(left)
      .then((method) => {
        // What comes after the end must not be sent: ssh2 throws, and nobody is there to be asked.
        if (!dial.signal.aborted) next(method as AnyAuthMethod)
      })
      .catch(fail)
  }
}
