import { TunnelError } from '../errors.ts'
import type { ResolvedIdentity, ResolvedTarget } from '../target.ts'

const refusal = (message: string) => new TunnelError('ERR_UNSUPPORTED', message)

/** Why a transport cannot prove who we are by an identity, and what to do instead. */
function unsuited(transport: ResolvedTarget['transport'], identity: ResolvedIdentity): string | undefined {
  if (transport === 'openssh' && identity.kind === 'password')
    return "`password` needs transport 'ssh2': ssh takes passwords from a terminal only"
  if (transport === 'ssh2' && 'certificate' in identity && identity.certificate !== undefined)
    return "`certificate` needs transport 'openssh', or leave it out and authorize the plain key: ssh2 cannot log in with certificates"
  return undefined
}

/**
 * Checks that the transport which a target uses can do what the target asks for, and gives its identities such that what a loader brings is checked, too.
 * @throws TunnelError `ERR_UNSUPPORTED`
 */
export function suitedIdentities({
  transport,
  identities,
  connect,
  openssh,
}: Pick<ResolvedTarget, 'transport' | 'identities' | 'connect' | 'openssh'>): readonly ResolvedIdentity[] {
  if (transport === 'openssh' && connect !== undefined) throw refusal("`connect` needs transport 'ssh2': ssh connects by itself")
  if (transport === 'ssh2' && openssh !== undefined) throw refusal("`openssh` options need transport 'openssh'")
  return Object.freeze(identities.map((identity) => suitedIdentity(transport, identity)))
}

function suitedIdentity(transport: ResolvedTarget['transport'], identity: ResolvedIdentity): ResolvedIdentity {
  if (identity.kind !== 'load') {
    const why = unsuited(transport, identity)
    if (why !== undefined) throw refusal(why)
    return identity
  }
  const load = async (signal: AbortSignal) => {
    const loaded = await identity.load(signal)
    const why = unsuited(transport, loaded)
    if (why !== undefined) throw new TunnelError('ERR_UNSUPPORTED', why, { phase: 'auth' })
    return loaded
  }
  return Object.freeze({ ...identity, load })
}
