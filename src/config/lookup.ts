import type { Directive, default as SSHConfig } from 'ssh-config'
import { matchesList } from '../trust/pattern.ts'

type Lines = SSHConfig
type Line = Lines[number]
/** What a `Match` may ask that can be answered without running anything or resolving any name. */
const CRITERIA: ReadonlySet<string> = new Set(['all', 'host', 'originalhost', 'user', 'localuser'])

/** What a config says about one alias. */
export interface Lookup {
  /** The values of each keyword, in lower case, in the order of the file; the first is the one that counts, but for files. */
  readonly values: ReadonlyMap<string, readonly (readonly string[])[]>
  /** Keywords as they are written, in the order of the file. */
  readonly keywords: readonly string[]
}

const isDirective = (line: Line): line is Line & Directive => 'param' in line && line.param !== ''
const wordsOf = ({ value }: Pick<Directive, 'value'>): string[] =>
  typeof value === 'string' ? [value] : value.map(({ val }) => val)

/** The pairs of a `Match` line: what is asked, and for what. */
function criteriaOf(words: readonly string[]): Array<readonly [criterion: string, patterns: string]> {
  const criteria: Array<readonly [string, string]> = []
  for (let at = 0; at < words.length; at += 1) {
    const name = (words[at] ?? '').toLowerCase()
    if (/^!?(all|canonical|final)$/.test(name)) criteria.push([name, ''])
    else criteria.push([name, words[++at] ?? ''])
  }
  return criteria
}

/** Collects what holds for one alias, as ssh does in one pass: sections in the order of the file. */
export function lookUp(config: Lines, alias: string, localUser: string): Lookup {
  const values = new Map<string, string[][]>()
  const keywords: string[] = []
  const add = (line: Directive) => {
    const keyword = line.param.toLowerCase()
    values.set(keyword, [...(values.get(keyword) ?? []), wordsOf(line)])
    keywords.push(line.param)
  }
  const first = (keyword: string) => values.get(keyword)?.[0]?.[0]
  const answers = (criterion: string): string => {
    if (criterion === 'originalhost') return alias
    if (criterion === 'localuser') return localUser
    return criterion === 'host' ? (first('hostname') ?? alias) : (first('user') ?? localUser)
  }
  const holds = ([name, patterns]: readonly [string, string]): boolean => {
    const isNegated = name.startsWith('!')
    const criterion = isNegated ? name.slice(1) : name
    return (criterion === 'all' || matchesList(patterns, answers(criterion))) !== isNegated
  }
  for (const line of config) {
    if (!isDirective(line)) continue
    if (!('config' in line)) {
      add(line)
      continue
    }
    const words = wordsOf(line)
    if (line.param.toLowerCase() === 'host') {
      if (!matchesList(words.join(','), alias)) continue
    } else {
      const criteria = criteriaOf(words)
      const unknown = criteria.find(([name]) => !CRITERIA.has(name.replace(/^!/, '')))
      if (unknown !== undefined) keywords.push(`Match ${unknown[0]}`)
      if (unknown !== undefined || !criteria.every(holds)) continue
    }
    for (const inner of line.config) if (isDirective(inner)) add(inner)
  }
  return { values, keywords }
}
