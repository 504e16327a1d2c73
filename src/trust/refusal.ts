import { TunnelError } from '../errors.ts'
import { codeOf } from '../owners/directory/disk-error.ts'
import { shown } from '../shown.ts'
import { algorithmsFor, fingerprint, type KnownKey, keyText, readKey } from './key.ts'
import type { Known } from './known.ts'
import type { Pin } from './pinned.ts'

/** Used up in this process or on this machine: no fault of the host, and the same call may succeed later. */
const LIMITS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EDQUOT'])
const MOST_KEYS_SHOWN = 4
/** A line for a 4096-bit RSA key is shorter; no host decides how long a message is. */
const LONGEST_LINE = 1_000
const MACHINE_CHECK = 'compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints on the machine itself'

/** `ERR_HOST_KEY` in phase 'hostkey'. */
export function refusal(message: string, cause?: unknown): TunnelError {
  return new TunnelError('ERR_HOST_KEY', message, { phase: 'hostkey', ...(cause === undefined ? {} : { cause }) })
}

/**
 * What a known_hosts file that cannot be read or written is called: `ERR_LOCAL_LIMIT` when something is used up, else
 * `ERR_HOST_KEY`.
 */
export function fileError(error: unknown, what: string): TunnelError {
  if (TunnelError.is(error)) return error
  const message = shown(`${what}: ${error instanceof Error ? error.message : String(error)}`, 1_000)
  if (LIMITS.has(codeOf(error))) return new TunnelError('ERR_LOCAL_LIMIT', message, { phase: 'hostkey', cause: error })
  return refusal(`${message}; make the file one that this user can use, or name another in the target's hostKey`, error)
}

/** What is known of the host cannot be used: certain before it is dialled. `undefined` when nothing is known at all. */
export function noUse(known: Known): TunnelError | undefined {
  const name = shown(known.name)
  const [revoked] = known.revoked
  if (known.keys.length > 0 && known.keys.every((key) => known.isRevoked(key.blob)) && revoked !== undefined) {
    return refusal(`every host key known for ${name} is revoked (${shown(revoked.source)}); add the line of a new key, or pin it`)
  }
  const listed = known.acceptable()
  if (listed.length === 0) return undefined
  return refusal(
    `the host keys known for ${name} are of types that are not supported: ${describe(listed)}; ` +
      'add its ssh-ed25519, ecdsa or ssh-rsa key',
  )
}

/** The host showed a key that nobody has vouched for, and that is not in conflict with another. */
export function notListed(known: Known, seen: Buffer, places: readonly string[]): TunnelError {
  return refusal(
    `the host key shown for ${shown(known.name)} is not known in ${whereOf(places)}: ` +
      `${describeShown(seen)}${aboutAuthorities(known)}; ` +
      `${MACHINE_CHECK}, then ${remedy(known.name, seen, places[0])}`,
  )
}

/** Other keys are known for this host. */
export function changed(known: Known, seen: Buffer): TunnelError {
  const [first] = known.keys
  const place = first && /:\d+$/.test(first.source) ? first.source.replace(/:\d+$/, '') : undefined
  return refusal(
    `the host key of ${shown(known.name)} has changed: expected ${describe(known.keys)}, shown ${describeShown(seen)}. ` +
      `Someone may be reading along, or the machine was set up anew; ${MACHINE_CHECK}, ` +
      `then remove the old and ${remedy(known.name, seen, place)}`,
  )
}

/** The key itself is marked as stolen or withdrawn. */
export function revoked(known: Known, seen: Buffer): TunnelError {
  const mark = known.revoked.find((key) => key.blob.equals(seen))
  return refusal(
    `the host key shown for ${shown(known.name)} is revoked (${shown(mark?.source ?? '')}): ${describeShown(seen)}. ` +
      'Whoever holds it may not be the host: give the machine a new key, then make that one known',
  )
}

/** None of the pins fits. */
export function notPinned(name: string, seen: Buffer, pins: readonly Pin[], isByFingerprint: boolean): TunnelError {
  const type = readKey(seen)?.type ?? 'other'
  const expected = shorten(pins.map((pin) => (pin.key ? `${pin.fingerprint} (${pin.key.type})` : pin.fingerprint)))
  const hint = isByFingerprint
    ? ` A fingerprint does not tell its type, and the host showed its ${type} key; pin that one or give the full key line.`
    : ''
  return refusal(
    `the host key of ${shown(name)} is none of those pinned in the target's hostKey: expected ${expected}, ` +
      `shown ${describeShown(seen)}.${hint} If the key was changed on purpose (${MACHINE_CHECK}), ${pinIt(seen)}`,
  )
}

/** The key cannot be remembered, because it cannot be read. */
export function notReadable(name: string, seen: Buffer): TunnelError {
  return refusal(
    `${shown(name)} showed something that is not a host key of a supported type: ${describeShown(seen)}; ` +
      'give it an ssh-ed25519, ecdsa or ssh-rsa key',
  )
}

const whereOf = (places: readonly string[]) => places.map((place) => shown(place)).join(' or ') || 'any file'

function remedy(name: string, seen: Buffer, place: string | undefined): string {
  const key = readKey(seen)
  const line = key && algorithmsFor([key]).length > 0 ? `${name} ${keyText(key)}` : ''
  if (place === undefined || line === '' || line.length > LONGEST_LINE) return pinIt(seen)
  return `add the line \`${shown(line, LONGEST_LINE)}\` to ${shown(place)}, or ${pinIt(seen)}`
}

const pinIt = (seen: Buffer) => `set the target's hostKey to { pinned: '${fingerprint(seen)}' }`

function describeShown(seen: Buffer): string {
  return `${fingerprint(seen)} (${readKey(seen)?.type ?? 'not a key that can be read'})`
}

function describe(keys: readonly KnownKey[]): string {
  return shorten(keys.map((key) => `${fingerprint(key.blob)} (${key.type}, ${shown(key.source)})`))
}

function shorten(items: readonly string[]): string {
  const more = items.length - MOST_KEYS_SHOWN
  return items.slice(0, MOST_KEYS_SHOWN).join(' or ') + (more > 0 ? ` or ${more} more` : '')
}

function aboutAuthorities(known: Known): string {
  const [first] = known.authorities
  return first === undefined
    ? ''
    : ` (${shown(first.source)} names a certificate authority for it, but host certificates are not supported)`
}
