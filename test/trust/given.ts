import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TunnelError } from '../../src/errors.ts'
import type { ResolvedHostKeyPolicy, ResolvedTarget } from '../../src/target.ts'
import { type HostKey, readKeyText } from '../../src/trust/key.ts'

/** A fresh directory for each test, removed after it. */
export function freshDirectory(): () => string {
  let path = ''
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'warren-trust-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))
  return () => path
}

const TYPES = {
  ed25519: ['-t', 'ed25519'],
  p256: ['-t', 'ecdsa', '-b', '256'],
  p384: ['-t', 'ecdsa', '-b', '384'],
  p521: ['-t', 'ecdsa', '-b', '521'],
  rsa: ['-t', 'rsa', '-b', '2048'],
}
export type KeyType = keyof typeof TYPES

/** A key that ssh-keygen made: `type base64`, its wire format, and the fingerprint that ssh-keygen prints. */
export interface MadeKey extends HostKey {
  readonly line: string
  readonly fingerprint: string
  readonly privateText: string
}

/** Has ssh-keygen make a key. */
export function makeKey(type: KeyType = 'ed25519'): MadeKey {
  const directory = mkdtempSync(join(tmpdir(), 'warren-trust-key-'))
  try {
    const file = join(directory, 'key')
    execFileSync('ssh-keygen', ['-q', ...TYPES[type], '-N', '', '-C', 'a comment', '-f', file])
    const [name = '', base64 = ''] = readFileSync(`${file}.pub`, 'utf8').split(' ')
    const key = readKeyText(name, base64)
    if (key === undefined) throw new Error(`ssh-keygen made a key that is not read: ${name}`)
    const listed = execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' })
    return { ...key, line: `${name} ${base64}`, fingerprint: listed.split(' ')[1] ?? '', privateText: readFileSync(file, 'utf8') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

let made: Record<'ed' | 'other' | 'p256' | 'rsa', MadeKey> | undefined

/** Two ed25519 keys and one of each other kind, made once for all that asks. */
export function someKeys(): Readonly<NonNullable<typeof made>> {
  made ??= { ed: makeKey(), other: makeKey(), p256: makeKey('p256'), rsa: makeKey('rsa') }
  return made
}

/** A target of which only what trust looks at is filled in. */
export function targetFor(hostKey: ResolvedHostKeyPolicy, host = 'gpu-7', port = 22, alias?: string): ResolvedTarget {
  const name = host.toLowerCase()
  return {
    key: '',
    id: `ubuntu@${host}:${port}#1`,
    host,
    port,
    user: 'ubuntu',
    address: `${name}:${port}`,
    route: `${name}:${port}`,
    jump: undefined,
    hops: 0,
    identities: [],
    hostKey,
    hostKeyName: alias ?? (port === 22 ? name : `[${name}]:${port}`),
    transport: 'ssh2',
    keepAliveIntervalMillis: 0,
    keepAliveCountMax: 3,
    label: undefined,
    connect: undefined,
    openssh: undefined,
  }
}

/** A signal that never aborts, one for each use. */
export const unaborted = (): AbortSignal => new AbortController().signal

/**
 * What `assert.rejects` checks a refusal with: the code, phase 'hostkey', a message of people's length without control
 * characters, and its words.
 */
export function refused(code: string, ...words: Array<string | RegExp>): (error: unknown) => true {
  return (error) => {
    if (!TunnelError.is(error)) throw error
    const text = error.message
    const missing = words.filter((word) => (typeof word === 'string' ? !text.includes(word) : !word.test(text)))
    if (error.code === code && error.phase === 'hostkey' && missing.length === 0 && text.length < 3_000 && !/\p{Cc}/u.test(text))
      return true
    throw new Error(`expected ${code} with ${missing.join(', ')}; got ${error.code} in ${error.phase}: ${error.message}`, {
      cause: error,
    })
  }
}

/** Runs `fn` with one function of node:fs/promises replaced, as everybody sees it. */
export async function replacing<K extends 'open' | 'stat'>(
  name: K,
  replacement: (original: (typeof promises)[K]) => unknown,
  fn: () => Promise<void>,
) {
  const original = promises[name]
  Object.assign(promises, { [name]: replacement(original) })
  syncBuiltinESMExports()
  try {
    await fn()
  } finally {
    Object.assign(promises, { [name]: original })
    syncBuiltinESMExports()
  }
}
