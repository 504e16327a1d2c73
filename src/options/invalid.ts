import { TunnelError } from '../errors.ts'

const LONGEST_SHOWN = 60
/** A key pasted where a path or a name belongs must not reach a log through the message that refuses it; nor may a password in a URL. */
const LOOKS_SECRET = /PRIVATE KEY|PuTTY-User-Key|:\/\/[^/]*@/

function show(value: unknown): string {
  if (value === undefined || value === null) return `\`${value}\``
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object') return `\`${Object.prototype.toString.call(value).slice(8, -1)}\` (object)`
  if (typeof value !== 'string') return `\`${String(value)}\` (${typeof value})`
  if (LOOKS_SECRET.test(value)) return 'a string that looks like a secret'
  return `\`${quote(value)}\` (string)`
}

/** A text from outside in one bounded line of printable ASCII. */
export function quote(text: string): string {
  const escaped = JSON.stringify(text.slice(0, LONGEST_SHOWN)).replace(
    /[^ -~]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > LONGEST_SHOWN ? `${escaped}...` : escaped
}

/** The same without the quotation marks, for names. */
export function quoteName(name: string): string {
  return quote(name).replace(/^"|"(?=(\.\.\.)?$)/g, '')
}

/** The error for an option that is not what it must be; shows what was given, in bounds. */
export function invalidOption(name: string, expected: string, given: unknown): TunnelError {
  return new TunnelError('ERR_INVALID_OPTION', `Expected \`${quoteName(name)}\` to be ${expected}, got ${show(given)}`)
}

/** The same for an option whose value is a secret, or may be one given by mistake: shows only its type. */
export function invalidSecret(name: string, expected: string, given: unknown): TunnelError {
  const type = given === null ? 'null' : typeof given
  return new TunnelError(
    'ERR_INVALID_OPTION',
    `Expected \`${quoteName(name)}\` to be ${expected}, got a value that is not shown (${type})`,
  )
}
