import { TunnelError } from '../errors.ts'
import type { ResolvedIdentity } from '../target.ts'

const unsupported = (what: string, instead: string) =>
  new TunnelError('ERR_UNSUPPORTED', `${what} not supported in this release; ${instead}`)

/** Only ssh2 is there yet. */
export function unsupportedTransport(): TunnelError {
  return unsupported("`transport: 'openssh'` is", "leave it out or use 'ssh2'")
}

/** Jumps are not there yet. */
export function unsupportedJumps(): TunnelError {
  return unsupported(
    '`jumps` are',
    'give `connect` a stream to the host instead, such as `lease.connect({ host, port })` of a lease on the jump',
  )
}

/** Options for a transport that is not there yet. */
export function unsupportedOpenssh(): TunnelError {
  return unsupported('`openssh` options are', 'leave them out: no ssh config is read')
}

/** ssh2 cannot log in with certificates. */
export function refuseCertificate(identity: ResolvedIdentity): void {
  if ((identity.kind !== 'path' && identity.kind !== 'key') || identity.certificate === undefined) return
  throw unsupported('certificates are', 'leave `certificate` out and authorize the plain key on the host')
}
