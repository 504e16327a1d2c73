import type { ResolvedTarget } from '../target.ts'
import { expectAcquaintance } from './accept-new.ts'
import { AcceptedFile } from './accepted-file.ts'
import { expectKnownHost } from './known-hosts.ts'
import { KnownHostsFile } from './known-hosts-file.ts'
import { expectPinned } from './pinned.ts'
import { RememberedKeys } from './remembered.ts'
import type { HostKeyExpectation, Trust } from './trust.ts'

/**
 * Knows host keys by each target's policy, and remembers what it has read and accepted for as long as it lives. Holds nothing
 * open. `expect` and `verify` reject with `ERR_HOST_KEY`, with `ERR_LOCAL_LIMIT` or `ERR_OPEN_TIMEOUT` when a file cannot be used
 * just now, or with the reason of their signal.
 */
export function createTrust(): Trust {
  const files = onePer((path) => new KnownHostsFile(path))
  const acceptedFiles = onePer((path) => new AcceptedFile(files(path)))
  const remembered = new RememberedKeys()

  return {
    async expect(target: ResolvedTarget, signal: AbortSignal): Promise<HostKeyExpectation> {
      signal.throwIfAborted()
      const policy = target.hostKey
      switch (policy.kind) {
        case 'known-hosts':
          return expectKnownHost(policy.files.map(files), target, signal)
        case 'pinned':
          return expectPinned(policy.pins, target)
        case 'accept-new':
          return expectAcquaintance(policy.file === undefined ? remembered : acceptedFiles(policy.file), target, signal)
        case 'insecure-accept-any':
          return { algorithms: undefined, verify: async (_key, verifySignal) => verifySignal.throwIfAborted() }
      }
    },
  }
}

function onePer<T>(make: (path: string) => T): (path: string) => T {
  const made = new Map<string, T>()
  return (path) => {
    const one = made.get(path) ?? make(path)
    made.set(path, one)
    return one
  }
}
