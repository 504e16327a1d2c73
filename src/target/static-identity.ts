import { invalidOption, invalidSecret } from '../options/invalid.ts'
import { checkNames } from '../options/names.ts'
import { Secret } from '../secret.ts'
import type { StaticResolvedIdentity } from '../target.ts'
import { checkPath } from './paths.ts'
import { parsePublicKey } from './public-key.ts'

type Given = Partial<Record<'path' | 'key' | 'agent' | 'password' | 'passphrase' | 'certificate' | 'publicKeys', unknown>>

const NAMES_BY_KIND: ReadonlyMap<'path' | 'key' | 'agent' | 'password', ReadonlySet<string>> = new Map([
  ['path', new Set(['path', 'passphrase', 'certificate'])],
  ['key', new Set(['key', 'passphrase', 'certificate'])],
  ['agent', new Set(['agent', 'publicKeys'])],
  ['password', new Set(['password'])],
])
const ALL: ReadonlySet<string> = new Set([...NAMES_BY_KIND.values()].flatMap((names) => [...names]))
const EXPECTED =
  'exactly one of { path }, { key }, { agent } and { password }; several go into an array, in the order to try them'

function checkText(given: unknown, name: string): string {
  if (typeof given === 'string' && given !== '') return given
  throw invalidSecret(name, 'a non-empty string', given)
}

function checkContent(given: unknown, name: string): string | Uint8Array {
  if (given instanceof Uint8Array && given.length > 0) return Uint8Array.from(given)
  if (typeof given === 'string' && given !== '') return given
  throw invalidSecret(name, 'a non-empty string or Uint8Array', given)
}

function checkPublicKeys(given: unknown, name: string): readonly string[] {
  if (!Array.isArray(given) || given.length === 0) throw invalidOption(name, 'a non-empty array of public keys', given)
  const keys = given.map((each, index) => {
    const key = typeof each === 'string' ? parsePublicKey(each) : undefined
    if (key === undefined) throw invalidOption(`${name}[${index}]`, 'a public key such as `ssh-ed25519 AAAA…`', each)
    return key
  })
  return Object.freeze(keys)
}

function resolveAgent(given: Given, name: string): StaticResolvedIdentity {
  const { agent, publicKeys } = given
  if (agent !== true && typeof agent !== 'string') throw invalidSecret(`${name}.agent`, 'true or the path of a socket', agent)
  return {
    kind: 'agent',
    socketPath: agent === true ? undefined : checkPath(agent, `${name}.agent`),
    publicKeys: publicKeys === undefined ? undefined : checkPublicKeys(publicKeys, `${name}.publicKeys`),
  }
}

function resolveKind(kind: 'path' | 'key' | 'agent' | 'password', given: Given, name: string): StaticResolvedIdentity {
  if (kind === 'agent') return resolveAgent(given, name)
  if (kind === 'password') return { kind, password: new Secret(checkText(given.password, `${name}.password`)) }
  const { certificate } = given
  const passphrase = given.passphrase === undefined ? undefined : new Secret(checkText(given.passphrase, `${name}.passphrase`))
  if (kind === 'path') {
    const path = checkPath(given.path, `${name}.path`)
    return {
      kind,
      path,
      passphrase,
      certificate: certificate === undefined ? undefined : checkPath(certificate, `${name}.certificate`),
    }
  }
  const key = new Secret(checkContent(given.key, `${name}.key`))
  return {
    kind,
    key,
    passphrase,
    certificate: certificate === undefined ? undefined : checkContent(certificate, `${name}.certificate`),
  }
}

/** Checks and copies one way to prove who we are that needs nobody to be asked. No value of it is ever shown. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveStaticIdentity(given: unknown, name: string): StaticResolvedIdentity {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalidSecret(name, EXPECTED, given)
  const identity: Given = given
  const kinds = [...NAMES_BY_KIND.keys()].filter((each) => identity[each] !== undefined)
  const [kind] = kinds
  checkNames(given, (kinds.length === 1 && kind && NAMES_BY_KIND.get(kind)) || ALL, name)
  if (kinds.length !== 1 || kind === undefined) throw invalidSecret(name, EXPECTED, given)
  return Object.freeze(resolveKind(kind, identity, name))
}
