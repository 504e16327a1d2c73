import { type KnownKey, readKeyText } from './key.ts'

/** One line of a known_hosts file, its key not decoded yet. */
export interface KnownHostsLine {
  readonly marker: '' | '@revoked' | '@cert-authority'
  /** Plain names and patterns in lower case, comma-separated; a hashed name as it stands. */
  readonly names: string
  readonly isHashed: boolean
  readonly type: string
  readonly base64: string
  readonly source: string
}

/** A name by HMAC-SHA1: the salt is the key, the name the text. */
export interface HashedName {
  readonly salt: Buffer
  readonly digest: Buffer
}

const LINE = /^(?:(@\S+)[ \t]+)?([^ \t]+)[ \t]+([^ \t]+)[ \t]+([^ \t]+)/
const HASHED = /^\|1\|([a-z0-9+/]{27}=)\|([a-z0-9+/]{27}=)$/i
const MARKERS = ['', '@revoked', '@cert-authority'] as const

/** Reads one line; `undefined` for comments, empty and malformed lines, which OpenSSH skips, too. */
export function readLine(text: string, source: string): KnownHostsLine | undefined {
  const line = text.trim()
  if (line === '' || line.startsWith('#')) return undefined
  const [, marker = '', names = '', type = '', base64 = ''] = LINE.exec(line) ?? []
  const known = MARKERS.find((one) => one === marker)
  const isHashed = names.startsWith('|')
  if (known === undefined || names === '' || (isHashed && !HASHED.test(names))) return undefined
  return { marker: known, names: isHashed ? names : names.toLowerCase(), isHashed, type, base64, source }
}

/** Takes `|1|salt|hash` apart, which `readLine` has checked. */
export function readHashedName(text: string): HashedName {
  const [, salt = '', digest = ''] = HASHED.exec(text) ?? []
  return { salt: Buffer.from(salt, 'base64'), digest: Buffer.from(digest, 'base64') }
}

/** The line's key, or `undefined` when there is none in it. */
export function keyOf(line: KnownHostsLine): KnownKey | undefined {
  const key = readKeyText(line.type, line.base64)
  return key && { ...key, source: line.source }
}
