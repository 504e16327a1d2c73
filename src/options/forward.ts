import type { ForwardSpec, Listen } from '../api/forward.ts'
import { checkPathLength, LONGEST_SOCKET_PATH } from '../owners/directory/path-length.ts'
import { Secret } from '../secret.ts'
import { isAddress } from '../target/host.ts'
import { invalidOption, invalidSecret } from './invalid.ts'
import { checkNames, checkObject } from './names.ts'
import { type ResolvedRemote, resolveListening, resolveRemote } from './remote.ts'
import { check, flag } from './rules.ts'

/** Where we listen. `socketPath` undefined: in the pool's directory, under a name of ours. Port 0: any free one. */
export type ResolvedListen =
  | { readonly kind: 'unix'; readonly socketPath: string | undefined }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
/** One forward, checked, complete and copied. */
export type ResolvedForward =
  | { readonly kind: 'local'; readonly to: ResolvedRemote; readonly listen: ResolvedListen; readonly isTakingOver: boolean }
  | { readonly kind: 'reverse'; readonly remote: ResolvedRemote; readonly to: ResolvedRemote }
  | { readonly kind: 'dynamic'; readonly credentials: Credentials | undefined; readonly listen: ResolvedListen }
/** What a SOCKS client must present. */
export interface Credentials {
  readonly username: string
  readonly password: Secret
}

type Given = Partial<Record<'to' | 'listen' | 'takeOver' | 'remote' | 'socks' | 'insecure', unknown>>
const LOCAL: ReadonlySet<string> = new Set(['to', 'listen', 'takeOver'])
const REVERSE: ReadonlySet<string> = new Set(['remote', 'to'])
const DYNAMIC: ReadonlySet<string> = new Set(['socks', 'listen', 'insecure'])
const ALL: ReadonlySet<string> = new Set([...LOCAL, ...REVERSE, ...DYNAMIC])
const CREDENTIALS: ReadonlySet<string> = new Set(['username', 'password'])

function resolveListen(given: Listen | undefined, name: string): ResolvedListen {
  if (given === undefined || given === 'unix') return { kind: 'unix', socketPath: undefined }
  if (given === 'tcp') return { kind: 'tcp', host: '127.0.0.1', port: 0 }
  checkObject(name, given, "'unix', 'tcp', { socketPath } or { port, host }")
  const end = resolveListening(given, name)
  if ('socketPath' in end) {
    checkPathLength(end.socketPath, LONGEST_SOCKET_PATH, `choose a shorter one as ${name}.socketPath`)
    return { kind: 'unix', socketPath: end.socketPath }
  }
  // `localhost` may be two addresses, of which only one would be listened on.
  if (!isAddress(end.host)) throw invalidOption(`${name}.host`, 'an IP address such as 127.0.0.1 or ::1, not a name', end.host)
  return { kind: 'tcp', ...end }
}

/** RFC 1929 gives each a length of one byte. */
function checkCredential(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= 255) return value
  throw invalidSecret(name, 'a string of 1 to 255 bytes', value)
}

function resolveCredentials(given: unknown, name: string): Credentials | undefined {
  if (given === true) return undefined
  const { username, password } = checkObject(name, given, 'true or { username, password }') as Partial<
    Record<keyof Credentials, unknown>
  >
  checkNames(given as object, CREDENTIALS, name)
  return {
    username: checkCredential(`${name}.username`, username),
    password: new Secret(checkCredential(`${name}.password`, password)),
  }
}

function resolveLocal(given: Given, name: string): ResolvedForward {
  checkNames(given, LOCAL, name)
  const listen = resolveListen(given.listen as Listen | undefined, `${name}.listen`)
  const isTakingOver = given.takeOver === undefined ? false : check(flag, `${name}.takeOver`, given.takeOver)
  if (isTakingOver && (listen.kind !== 'unix' || listen.socketPath === undefined)) {
    throw invalidOption(`${name}.takeOver`, 'left out, unless `listen` is a { socketPath }', true)
  }
  return { kind: 'local', to: resolveRemote(given.to as never, `${name}.to`), listen, isTakingOver }
}

function resolveDynamic(given: Given, name: string): ResolvedForward {
  checkNames(given, DYNAMIC, name)
  const credentials = resolveCredentials(given.socks, `${name}.socks`)
  const listen = resolveListen(given.listen as Listen | undefined, `${name}.listen`)
  const isInsecure = given.insecure === undefined ? false : check(flag, `${name}.insecure`, given.insecure)
  if (listen.kind === 'tcp' && credentials === undefined && !isInsecure) {
    const expected =
      '{ username, password } on a TCP endpoint, which every user of this machine can reach (or say `insecure: true`)'
    throw invalidOption(`${name}.socks`, expected, given.socks)
  }
  return { kind: 'dynamic', credentials, listen }
}

/** Checks and copies one forward. @throws TunnelError `ERR_INVALID_OPTION`, `ERR_PATH_TOO_LONG` */
export function resolveForward(spec: ForwardSpec, name = 'forward'): ResolvedForward {
  const given: Given = checkObject(name, spec, '{ to }, { remote, to } or { socks }')
  if (given.remote !== undefined) {
    checkNames(given, REVERSE, name)
    const remote = resolveListening(given.remote as never, `${name}.remote`)
    return { kind: 'reverse', remote, to: resolveRemote(given.to as never, `${name}.to`) }
  }
  if (given.socks !== undefined) return resolveDynamic(given, name)
  if (given.to !== undefined) return resolveLocal(given, name)
  checkNames(given, ALL, name)
  throw invalidOption(name, '{ to }, { remote, to } or { socks }', spec)
}
