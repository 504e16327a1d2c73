import type { ResolvedTarget } from '../target.ts'

/** What one dial will accept as the host's key. */
export interface HostKeyExpectation {
  /** The only host key algorithms to offer, in order of preference; `undefined`: whatever the transport offers by default. */
  readonly algorithms: readonly string[] | undefined
  /** Resolves when this key (in SSH wire format) is the host's; rejects with `ERR_HOST_KEY`, naming both fingerprints. */
  verify(key: Buffer, signal: AbortSignal): Promise<void>
}

/** The pool's knowledge of host keys: known_hosts files, pins, and what it has accepted itself. One for both transports. */
export interface Trust {
  /** Looks up what is known about this host; rejects with `ERR_HOST_KEY` when no key that it could show would be accepted. */
  expect(target: ResolvedTarget, signal: AbortSignal): Promise<HostKeyExpectation>
}
