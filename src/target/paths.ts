import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { TunnelError } from '../errors.ts'
import { invalidSecret } from '../options/invalid.ts'
import { path } from '../options/rules.ts'

/** Undefined for a user without one, such as an arbitrary uid in a container. */
export function homeDirectory(): string | undefined {
  try {
    const home = homedir()
    return isAbsolute(home) ? home : undefined
  } catch {
    // Neither HOME nor an entry in the password file: there is no home, which is not an error by itself.
    return undefined
  }
}

/** A path made absolute, `~` being the user's home. What is refused is not shown: it may be a key, pasted in the wrong place. @throws TunnelError `ERR_INVALID_OPTION` */
export function checkPath(given: unknown, name: string): string {
  if (!path.accepts(given) || /[\r\n]/.test(given)) throw invalidSecret(name, 'a path without NUL and newline', given)
  if (given !== '~' && !given.startsWith('~/')) return resolve(given)
  const home = homeDirectory()
  if (home === undefined)
    throw new TunnelError('ERR_INVALID_OPTION', `\`${name}\` begins with ~, but the user has no home directory: write it in full`)
  return join(home, given.slice(1))
}

/** One path or several, made absolute. @throws TunnelError `ERR_INVALID_OPTION` */
export function checkPaths(given: unknown, name: string): readonly string[] {
  if (typeof given === 'string') return Object.freeze([checkPath(given, name)])
  if (!Array.isArray(given) || given.length === 0) throw invalidSecret(name, 'a path or a non-empty array of paths', given)
  return Object.freeze(given.map((each, index) => checkPath(each, `${name}[${index}]`)))
}
