import { TunnelError } from '../errors.ts'
import type { ResolvedTarget } from '../target.ts'

const refusal = (message: string) => new TunnelError('ERR_UNSUPPORTED', message)

/** What the transport that a target uses can do with it. What a loader brings is checked when it is there. @throws TunnelError `ERR_UNSUPPORTED` */
export function checkSuits({
  transport,
  identities,
  connect,
  openssh,
}: Pick<ResolvedTarget, 'transport' | 'identities' | 'connect' | 'openssh'>): void {
  if (transport === 'openssh') {
    if (connect !== undefined) throw refusal("`connect` needs transport 'ssh2': ssh connects by itself")
    if (identities.some(({ kind }) => kind === 'password'))
      throw refusal("`password` needs transport 'ssh2': ssh takes passwords from a terminal only")
    return
  }
  if (openssh !== undefined) throw refusal("`openssh` options need transport 'openssh'")
  if (identities.some((identity) => 'certificate' in identity && identity.certificate !== undefined))
    throw refusal(
      "`certificate` needs transport 'openssh', or leave it out and authorize the plain key: ssh2 cannot log in with certificates",
    )
}
