import { invalidOption } from '../options/invalid.ts'
import { checkNames, checkObject } from '../options/names.ts'
import type { ResolvedHostKeyPolicy } from '../target.ts'
import { checkPath, checkPaths, homeDirectory } from './paths.ts'
import { isFingerprint, parsePublicKey } from './public-key.ts'

const NAMES: ReadonlySet<string> = new Set(['knownHosts', 'pinned', 'acceptNew'])
const EXPECTED = "{ knownHosts }, { pinned }, { acceptNew }, 'accept-new' or 'insecure-accept-any'"
const SYSTEM_FILE = '/etc/ssh/ssh_known_hosts'

function defaultPolicy(): ResolvedHostKeyPolicy {
  const home = homeDirectory()
  return {
    kind: 'known-hosts',
    files: Object.freeze(home === undefined ? [SYSTEM_FILE] : [`${home}/.ssh/known_hosts`, SYSTEM_FILE]),
  }
}

function checkPin(given: unknown, name: string): string {
  const pin = typeof given !== 'string' ? undefined : isFingerprint(given) ? given : parsePublicKey(given)
  if (pin === undefined)
    throw invalidOption(name, 'a fingerprint (`SHA256:` and 43 characters) or a public key (`ssh-ed25519 AAAA…`)', given)
  return pin
}

function checkPins(given: unknown, name: string): readonly string[] {
  if (typeof given === 'string') return Object.freeze([checkPin(given, name)])
  if (!Array.isArray(given) || given.length === 0)
    throw invalidOption(name, 'a fingerprint or public key, or a non-empty array of them', given)
  return Object.freeze([...new Set(given.map((each, index) => checkPin(each, `${name}[${index}]`)))])
}

/** Checks and completes what is accepted as the host's key. @throws TunnelError `ERR_INVALID_OPTION` */
export function resolvePolicy(given: unknown, name: string): ResolvedHostKeyPolicy {
  if (given === undefined) return Object.freeze(defaultPolicy())
  if (given === 'accept-new') return Object.freeze({ kind: 'accept-new', file: undefined })
  if (given === 'insecure-accept-any') return Object.freeze({ kind: 'insecure-accept-any' })
  checkNames(checkObject(name, given, EXPECTED), NAMES, name)
  const { knownHosts, pinned, acceptNew } = given as Record<string, unknown>
  const isOne = [knownHosts, pinned, acceptNew].filter((each) => each !== undefined).length === 1
  if (!isOne) throw invalidOption(name, `exactly one of ${EXPECTED}`, given)
  if (pinned !== undefined) return Object.freeze({ kind: 'pinned', pins: checkPins(pinned, `${name}.pinned`) })
  if (acceptNew !== undefined) return Object.freeze({ kind: 'accept-new', file: checkPath(acceptNew, `${name}.acceptNew`) })
  return Object.freeze({ kind: 'known-hosts', files: checkPaths(knownHosts, `${name}.knownHosts`) })
}
