import { TunnelError } from '../errors.ts'
import { invalidSecret } from '../options/invalid.ts'
import { checkNames } from '../options/names.ts'
import { label } from '../options/rules.ts'
import type { ResolvedIdentity } from '../target.ts'
import { resolveStaticIdentity } from './static-identity.ts'

type Load = Extract<ResolvedIdentity, { kind: 'load' }>

const LOADER: ReadonlySet<string> = new Set(['id', 'load'])
const CHOICES =
  "'ambient' (the agent, then the usual key files), or one or several of { path }, { key }, { agent }, { password } and { id, load }"

function resolveLoader(given: { id?: unknown; load?: unknown }, name: string): Load {
  checkNames(given, LOADER, name)
  const { id, load } = given
  if (!label.accepts(id) || id === '') throw invalidSecret(`${name}.id`, 'a name of 1 to 200 printable characters', id)
  if (typeof load !== 'function') throw invalidSecret(`${name}.load`, 'a function that returns an identity', load)
  return Object.freeze({
    kind: 'load',
    id,
    load: async (signal: AbortSignal) => {
      const loaded: unknown = await Reflect.apply(load, given, [signal])
      return resolveStaticIdentity(loaded, `${name}.load()`)
    },
  })
}

function resolveIdentity(given: unknown, name: string): ResolvedIdentity {
  const asked = typeof given === 'object' && given !== null ? (given as { id?: unknown; load?: unknown }) : undefined
  if (asked?.id !== undefined || asked?.load !== undefined) return resolveLoader(asked, name)
  return resolveStaticIdentity(given, name)
}

/** Checks and copies the ways to prove who we are, in the order to try them. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveIdentities(given: unknown, name: string): readonly ResolvedIdentity[] {
  if (given === undefined) {
    throw new TunnelError('ERR_INVALID_OPTION', `\`${name}\` is required, so that nothing is offered by accident: ${CHOICES}`)
  }
  if (given === 'ambient') return Object.freeze([Object.freeze({ kind: 'ambient' as const })])
  const isOne = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (isOne) return Object.freeze([resolveIdentity(given, name)])
  if (!Array.isArray(given) || given.length === 0) throw invalidSecret(name, CHOICES, given)
  return Object.freeze(given.map((each, index) => resolveIdentity(each, `${name}[${index}]`)))
}
