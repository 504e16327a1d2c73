import type { Target } from '../api/target.ts'
import { TunnelError } from '../errors.ts'
import { invalidOption, quoteName } from '../options/invalid.ts'
import { checkNames, checkObject, namesOf, unknownName } from '../options/names.ts'
import type { ResolvedOpenssh } from '../target.ts'
import { DANGEROUS, INSTEAD, TUNING } from './openssh-keywords.ts'
import { checkPath } from './paths.ts'

const NAMES = namesOf<NonNullable<Target['openssh']>>({ configFile: true, options: true, dangerousOptions: true })
/** What a value of a tuning keyword is made of: lists of algorithms, numbers, addresses. Nothing that quotes, comments or is replaced. */
const PLAIN = /^[\w.,:@+*!?^/=[\]-]+(?: [\w.,:@+*!?^/=[\]-]+)*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/

function checkKeyword(name: string, allowed: ReadonlyMap<string, string>, within: string): string {
  const lower = name.toLowerCase()
  const keyword = allowed.get(lower)
  if (keyword !== undefined) return keyword
  const refuse = (why: string) => new TunnelError('ERR_INVALID_OPTION', `\`${within}.${quoteName(name)}\` is not taken: ${why}`)
  const instead = INSTEAD.get(lower)
  if (instead !== undefined) throw refuse(instead)
  if (DANGEROUS.has(lower)) throw refuse('it is dangerous; whoever means it puts it into `openssh.dangerousOptions`')
  if (TUNING.has(lower)) throw refuse('it is harmless; put it into `openssh.options`')
  throw unknownName(name, new Set(allowed.values()), within)
}

function checkOptions(given: unknown, within: string, allowed: ReadonlyMap<string, string>): Array<readonly [string, string]> {
  if (given === undefined) return []
  const seen = new Set<string>()
  return Object.entries(checkObject(within, given, 'an object of ssh_config keywords and their values')).map(([name, value]) => {
    const keyword = checkKeyword(name, allowed, within)
    if (seen.has(keyword)) throw invalidOption(`${within}.${name}`, 'given once', value)
    seen.add(keyword)
    const isGood =
      typeof value === 'string' &&
      value.length <= 1_000 &&
      (allowed === TUNING ? PLAIN.test(value) : !CONTROL.test(value) && value.trim() !== '')
    if (!isGood)
      throw invalidOption(`${within}.${name}`, 'a value of one line as in ssh_config, without quotes, comments and %', value)
    return Object.freeze([keyword, value] as const)
  })
}

/** Checks and copies what a target says to OpenSSH alone. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolveOpenssh(given: unknown): ResolvedOpenssh | undefined {
  if (given === undefined) return undefined
  checkNames(checkObject('openssh', given), NAMES, 'openssh')
  const { configFile, options, dangerousOptions } = given as Record<string, unknown>
  return Object.freeze({
    configFile: configFile === undefined ? undefined : checkPath(configFile, 'openssh.configFile'),
    options: Object.freeze([
      ...checkOptions(options, 'openssh.options', TUNING),
      ...checkOptions(dangerousOptions, 'openssh.dangerousOptions', DANGEROUS),
    ]),
  })
}
