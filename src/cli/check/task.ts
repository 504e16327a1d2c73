import { userInfo } from 'node:os'
import type { Remote } from '../../api/forward.ts'
import type { HostKeyPolicy, Jump, Target, TransportName } from '../../api/target.ts'
import { type Expectation, HEALTHY, readExpectation, readLogin, readRemote } from './address.ts'

/** One check: which host, and what to ask there. */
export interface Task {
  readonly target: Target
  /** Neither: the SSH round trip alone. */
  readonly http: { readonly to: Remote; readonly path: string } | undefined
  readonly expect: Expectation
}

/** What may be said of a check, on the command line or in a file; all in the words of the command line. */
export interface TaskWords {
  readonly user?: string | undefined
  readonly identity?: readonly string[] | undefined
  readonly agent?: boolean | undefined
  readonly hostKey?: readonly string[] | undefined
  readonly jump?: readonly string[] | undefined
  readonly to?: string | undefined
  readonly path?: string | undefined
  readonly expect?: string | undefined
  readonly label?: string | undefined
  readonly transport?: string | undefined
}

function identityOf({ identity = [], agent = false }: TaskWords): Target['identity'] {
  const paths = identity.map((path) => ({ path }))
  if (agent) return [...paths, { agent: true }]
  return paths.length === 0 ? 'ambient' : paths
}

function policyOf(words: readonly string[] = []): HostKeyPolicy | undefined {
  const [first] = words
  if (first === undefined) return undefined
  if (first === 'accept-new' || first === 'insecure-accept-any') return first
  return /^(SHA256:|ssh-|ecdsa-)/.test(first) ? { pinned: words } : { knownHosts: words }
}

const jumpOf = (text: string): Jump => readLogin(text)

/** Puts one login and what is said of it together. @throws InvalidArgumentError */
export function taskOf(login: string, words: TaskWords): Task {
  const { user = words.user ?? userInfo().username, host, port } = readLogin(login)
  const hostKey = policyOf(words.hostKey)
  const jumps = words.jump?.map(jumpOf) ?? []
  const target: Target = {
    host,
    user,
    identity: identityOf(words),
    ...(port === undefined ? {} : { port }),
    ...(hostKey === undefined ? {} : { hostKey }),
    ...(jumps.length === 0 ? {} : { jumps }),
    ...(words.label === undefined ? {} : { label: words.label }),
    // What it may be is checked with the rest of the target.
    ...(words.transport === undefined ? {} : { transport: words.transport as TransportName }),
  }
  const path = words.path ?? (words.to === undefined ? undefined : '/')
  return {
    target,
    http: path === undefined ? undefined : { to: readRemote(words.to ?? '80'), path: path.startsWith('/') ? path : `/${path}` },
    expect: words.expect === undefined ? HEALTHY : readExpectation(words.expect),
  }
}
