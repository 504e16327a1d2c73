import { TunnelError } from '../errors.ts'
import { shown } from '../shown.ts'
import type { ResolvedTarget } from '../target.ts'
import { algorithmsFor, fingerprint, type HostKey, readKeyText } from './key.ts'
import { notPinned } from './refusal.ts'
import type { HostKeyExpectation } from './trust.ts'

/** A key that is accepted, by fingerprint, or whole. */
export interface Pin {
  readonly fingerprint: string
  readonly key: HostKey | undefined
}

/** Reads `SHA256:…` or `ssh-ed25519 AAAA…` (with any comment after it); `undefined` when it is neither. */
export function readPin(text: string): Pin | undefined {
  const [first = '', second = ''] = text.trim().split(/[ \t]+/)
  if (/^SHA256:[a-z0-9+/]{43}=?$/i.test(text.trim())) return { fingerprint: first.replace('=', ''), key: undefined }
  const key = readKeyText(first, second)
  return key && algorithmsFor([key]).length > 0 ? { fingerprint: fingerprint(key.blob), key } : undefined
}

/**
 * Only the pinned keys. A bare fingerprint does not tell which algorithms to offer: then all are, and a host with several keys
 * chooses.
 */
export function expectPinned(pinned: readonly string[], target: ResolvedTarget): HostKeyExpectation {
  const pins = pinned.map(pinOf)
  const keys = pins.flatMap(({ key }) => key ?? [])
  const isByFingerprint = keys.length < pins.length
  return {
    algorithms: isByFingerprint ? undefined : algorithmsFor(keys),
    async verify(key, signal) {
      signal.throwIfAborted()
      const shown = fingerprint(key)
      if (pins.some((pin) => pin.fingerprint === shown)) return
      throw notPinned(target.hostKeyName, key, pins, isByFingerprint)
    },
  }
}

function pinOf(text: string): Pin {
  const pin = readPin(text)
  if (pin !== undefined) return pin
  const wanted = "'SHA256:…' as `ssh-keygen -lf` prints it, or the line of an ssh-ed25519, ecdsa or ssh-rsa key"
  throw new TunnelError('ERR_INVALID_OPTION', `Expected \`hostKey.pinned\` to be ${wanted}, got '${shown(text, 80)}'`)
}
