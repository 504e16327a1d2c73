import type { Jump } from '../api/target.ts'
import { invalidOption } from '../options/invalid.ts'
import { checkNames, checkObject, namesOf } from '../options/names.ts'
import { check, port } from '../options/rules.ts'
import { checkHost } from './host.ts'
import { resolveIdentities } from './identity.ts'
import { checkAlias, checkUser } from './login.ts'
import { resolvePolicy } from './policy.ts'
import { unsupportedJumps } from './unsupported.ts'

const NAMES = namesOf<Jump>({ host: true, port: true, user: true, identity: true, hostKey: true, hostKeyAlias: true })

function checkJump(given: unknown, name: string): void {
  const jump = checkObject(name, given) as Partial<Jump>
  checkNames(jump, NAMES, name)
  checkHost(jump.host, `${name}.host`)
  if (jump.port !== undefined) check(port, `${name}.port`, jump.port)
  if (jump.user !== undefined) checkUser(jump.user, `${name}.user`)
  if (jump.identity !== undefined) resolveIdentities(jump.identity, `${name}.identity`)
  resolvePolicy(jump.hostKey, `${name}.hostKey`)
  if (jump.hostKeyAlias !== undefined) checkAlias(jump.hostKeyAlias, `${name}.hostKeyAlias`)
}

/** Checks jumps as if they could be used, so that a mistake in one is called that; then refuses them. @throws TunnelError `ERR_INVALID_OPTION`, `ERR_UNSUPPORTED` */
export function refuseJumps(given: unknown): void {
  if (given === undefined) return
  if (!Array.isArray(given)) throw invalidOption('jumps', 'an array of jumps', given)
  for (const [index, each] of given.entries()) checkJump(each, `jumps[${index}]`)
  if (given.length > 0) throw unsupportedJumps()
}
