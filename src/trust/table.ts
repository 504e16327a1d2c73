import type { HashedNames } from './hashed-names.ts'
import { type KnownHostsLine, readLine } from './line.ts'
import { Pace } from './pace.ts'
import { isPattern, matchesList } from './pattern.ts'

/**
 * The lines of one known_hosts file, by what they are found with: plain names in a map, patterns in a list, hashed names by
 * trying.
 */
export class Table {
  readonly #path: string
  readonly #hashedNames: HashedNames
  readonly #plain = new Map<string, KnownHostsLine[]>()
  readonly #patterns: KnownHostsLine[] = []
  readonly #hashed = new Map<string, KnownHostsLine[]>()
  #lines = 0

  constructor(path: string, hashedNames: HashedNames) {
    this.#path = path
    this.#hashedNames = hashedNames
  }

  /** Adds the lines of a text, which begins a line of its own. */
  async extend(text: string): Promise<void> {
    const pace = new Pace()
    const hashedBefore = this.#hashed.size
    for (const one of text.split('\n')) {
      if (pace.isOver()) await pace.nextTurn()
      this.#add(readLine(one, `${this.#path}:${++this.#lines}`))
    }
    // What follows the last line break is the beginning of the next line, if there ever is one.
    this.#lines--
    if (this.#hashed.size > hashedBefore) this.#hashedNames.replace(new Set(this.#hashed.keys()))
  }

  /** Every line that names this host, whatever its marker; case does not count. */
  async find(hostName: string, signal?: AbortSignal): Promise<readonly KnownHostsLine[]> {
    const name = hostName.toLowerCase()
    const hashed = this.#hashed.size > 0 ? await this.#hashedNames.find(name, signal) : []
    return [
      ...(this.#plain.get(name) ?? []),
      ...this.#patterns.filter((line) => matchesList(line.names, name)),
      ...hashed.flatMap((text) => this.#hashed.get(text) ?? []),
    ]
  }

  #add(line: KnownHostsLine | undefined): void {
    if (line === undefined) return
    if (line.isHashed) append(this.#hashed, line.names, line)
    else if (isPattern(line.names)) this.#patterns.push(line)
    else for (const name of new Set(line.names.split(','))) append(this.#plain, name, line)
  }
}

function append(map: Map<string, KnownHostsLine[]>, name: string, line: KnownHostsLine): void {
  const lines = map.get(name)
  if (lines === undefined) map.set(name, [line])
  else lines.push(line)
}
