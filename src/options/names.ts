import { TunnelError } from '../errors.ts'
import { invalidOption, quoteName } from './invalid.ts'
import { nearestName } from './nearest.ts'

/** The option names of a type, complete by construction. */
export function namesOf<T>(all: { readonly [Name in keyof Required<T>]: true }): ReadonlySet<string> {
  return new Set(Object.keys(all))
}

/** The error for a name that means nothing, with the one that was probably meant; `within` is the option that holds it. */
export function unknownName(name: string, known: ReadonlySet<string>, within = ''): TunnelError {
  const full = quoteName(within === '' ? name : `${within}.${name}`)
  const meant = nearestName(name, known)
  const hint =
    meant === undefined ? `known are ${[...known].map((each) => `\`${each}\``).join(', ')}` : `did you mean \`${meant}\`?`
  return new TunnelError('ERR_INVALID_OPTION', `unknown option \`${full}\`; ${hint}`)
}

/** Refuses what is not an object, and an object with a name nobody knows. Cheap: on the path of every acquire. */
export function checkNames(given: object, known: ReadonlySet<string>, within = ''): void {
  for (const name in given) if (!known.has(name)) throw unknownName(name, known, within)
}

/** Refuses what is not an object to read options from. */
export function checkObject(name: string, given: unknown, expected = 'an object'): object {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  throw invalidOption(name, expected, given)
}
