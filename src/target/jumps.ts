import type { Jump, Target } from '../api/target.ts'
import { TunnelError } from '../errors.ts'
import { invalidOption } from '../options/invalid.ts'
import { checkNames, checkObject, namesOf } from '../options/names.ts'
import type { ResolvedTarget } from '../target.ts'

const NAMES = namesOf<Jump>({
  host: true,
  port: true,
  user: true,
  identity: true,
  hostKey: true,
  hostKeyAlias: true,
  label: true,
})

/** The hops of a target, outermost first, each with what it takes from the target when it does not say it itself. @throws TunnelError `ERR_INVALID_OPTION` */
export function readJumps({ jumps, user, identity, hostKey, connect }: Partial<Target>): readonly Partial<Target>[] {
  if (jumps === undefined) return []
  const given: unknown = jumps
  if (!Array.isArray(given)) throw invalidOption('jumps', 'an array of jumps', given)
  if (given.length > 0 && connect !== undefined)
    throw new TunnelError(
      'ERR_INVALID_OPTION',
      'Expected `connect` or `jumps`, not both: the stream of `connect` leads to the host itself',
    )
  return given.map((each, index) => {
    const jump = checkObject(`jumps[${index}]`, each) as Partial<Jump>
    checkNames(jump, NAMES, `jumps[${index}]`)
    const { host, port, hostKeyAlias, label } = jump
    return {
      host,
      port,
      hostKeyAlias,
      label,
      user: jump.user ?? user,
      identity: jump.identity ?? identity,
      hostKey: jump.hostKey ?? hostKey,
    } as Partial<Target>
  })
}

/** `user@host:port`, as errors name a hop. */
export const hopName = ({ user, address }: Pick<ResolvedTarget, 'user' | 'address'>): string => `${user}@${address}`
