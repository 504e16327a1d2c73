import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml'
import { nearestName } from '../../options/nearest.ts'
import { type Task, type TaskWords, taskOf } from './task.ts'

/**
 * A file of targets:
 *
 * ```yaml
 * defaults: { user: ubuntu, identity: ~/.ssh/id_ed25519, to: 10998, path: /api/healthcheck }
 * targets:
 *   - 10.0.0.7                       # [user@]host[:port]
 *   - host: gpu-8.internal:2222
 *     hostKey: SHA256:…              # or accept-new, or the path of a known_hosts file; lists, too
 *     identity: [~/.ssh/a, ~/.ssh/b] # private keys, offered in this order
 *     agent: true                    # the keys of SSH_AUTH_SOCK, after them
 *     expect: 200-299
 *     label: the big one
 * ```
 */
const KEYS = ['user', 'identity', 'agent', 'hostKey', 'jump', 'to', 'path', 'expect', 'label', 'transport'] as const
const LISTS: ReadonlySet<string> = new Set(['identity', 'hostKey', 'jump'])

/** Where in the file something is wrong, for whoever has to mend it. */
class FileReader {
  readonly #path: string
  readonly #lines = new LineCounter()
  readonly #root: unknown

  constructor(path: string, text: string) {
    this.#path = path
    const document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    const [error] = document.errors
    if (error !== undefined) throw this.#wrong(error.message, error.pos[0])
    this.#root = document.contents
  }

  tasks(words: TaskWords): Task[] {
    const root = this.#root
    if (!isMap(root)) throw this.#wrong('expected `targets:` with a list', 0)
    this.#checkKeys(root, ['defaults', 'targets'])
    const defaults = root.get('defaults', true)
    const known = { ...words, ...(isMap(defaults) ? this.#words(defaults, KEYS) : {}) }
    const targets = root.get('targets', true)
    if (!isSeq(targets) || targets.items.length === 0)
      throw this.#wrong('expected a list of at least one target in `targets`', targets ?? root)
    return targets.items.map((item) => this.#task(item as Node, known))
  }

  #task(item: Node, defaults: TaskWords): Task {
    try {
      if (isScalar(item)) return taskOf(String(item.value), defaults)
      if (!isMap(item)) throw this.#wrong('expected [user@]host[:port], or a map with `host`', item)
      const host = item.get('host', true)
      if (!isScalar(host)) throw this.#wrong('this target has no `host`', item)
      return taskOf(String(host.value), { ...defaults, ...this.#words(item, [...KEYS, 'host']) })
    } catch (error) {
      if (error instanceof InvalidArgumentError && !error.message.startsWith(this.#path)) throw this.#wrong(error.message, item)
      throw error
    }
  }

  #words(map: YAMLMap, allowed: readonly string[]): TaskWords {
    this.#checkKeys(map, allowed)
    const words: Record<string, unknown> = {}
    for (const { key, value } of map.items) {
      const name = String((key as { value: unknown }).value)
      if (name === 'host') continue
      if (name === 'agent') words.agent = isScalar(value) && value.value === true
      else if (LISTS.has(name)) words[name] = (isSeq(value) ? value.items : [value]).map((one) => this.#text(name, one as Node))
      else words[name] = this.#text(name, value as Node)
    }
    return words as TaskWords
  }

  #text(name: string, node: Node | null): string {
    if (isScalar(node) && (typeof node.value === 'string' || typeof node.value === 'number')) return String(node.value)
    throw this.#wrong(`expected text in \`${name}\``, node ?? 0)
  }

  #checkKeys(map: YAMLMap, allowed: readonly string[]): void {
    for (const { key } of map.items) {
      const name = String((key as { value: unknown }).value)
      if (allowed.includes(name)) continue
      const nearest = nearestName(name, allowed)
      throw this.#wrong(
        `unknown key \`${name}\`${nearest === undefined ? `; known: ${allowed.join(', ')}` : `; did you mean \`${nearest}\`?`}`,
        key as Node,
      )
    }
  }

  #wrong(message: string, at: unknown): InvalidArgumentError {
    const offset = typeof at === 'number' ? at : ((at as Node | undefined)?.range?.[0] ?? 0)
    const { line, col } = this.#lines.linePos(offset)
    return new InvalidArgumentError(`${this.#path}:${line}:${col}: ${message}`)
  }
}

/** Reads a file of targets. @throws InvalidArgumentError with path, line and column */
export async function readTargetsFile(path: string, words: TaskWords): Promise<Task[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new InvalidArgumentError(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return new FileReader(path, text).tasks(words)
}
