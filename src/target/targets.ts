import type { Target } from '../api/target.ts'
import { invalidOption } from '../options/invalid.ts'
import { checkNames, checkObject, namesOf } from '../options/names.ts'
import { check, count, duration, label, port, transport } from '../options/rules.ts'
import type { ResolvedTarget } from '../target.ts'
import { bracketed, checkHost } from './host.ts'
import { resolveIdentities } from './identity.ts'
import { readJumps } from './jumps.ts'
import { keyOf } from './key.ts'
import { Known } from './known.ts'
import { checkAlias, checkUser } from './login.ts'
import { resolveOpenssh } from './openssh.ts'
import { resolvePolicy } from './policy.ts'
import { suitedIdentities } from './unsupported.ts'

type Connect = NonNullable<Target['connect']>
/** A target or a hop by itself, checked, before it is known what lies on the way to it. */
type Checked = Omit<ResolvedTarget, 'key' | 'id' | 'route' | 'jump' | 'hops'>
/** What a target takes from its pool. */
export type TargetDefaults = Pick<ResolvedTarget, 'transport' | 'keepAliveIntervalMillis' | 'keepAliveCountMax'>

const NAMES = namesOf<Target>({
  host: true,
  port: true,
  user: true,
  identity: true,
  hostKey: true,
  hostKeyAlias: true,
  jumps: true,
  transport: true,
  keepAliveIntervalMillis: true,
  keepAliveCountMax: true,
  label: true,
  connect: true,
  openssh: true,
})

function checkConnect(given: unknown): Connect | undefined {
  if (given === undefined || typeof given === 'function') return given as Connect | undefined
  throw invalidOption('connect', 'a function that returns a stream', given)
}

/** The targets of one pool: each object is checked and copied once, and keeps the meaning it had then. */
export class Targets {
  readonly #defaults: TargetDefaults
  readonly #resolved = new WeakMap<object, ResolvedTarget>()
  readonly #connects = new WeakMap<Connect, number>()
  readonly #known = new Known()
  #lastConnect = 0

  constructor(defaults: TargetDefaults) {
    this.#defaults = defaults
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#known.size
  }

  /**
   * What a target means. Equal ones have the same `key` and, as long as anybody holds one, the same `id` and `identities`.
   * @throws TunnelError `ERR_INVALID_OPTION` that names the property; `ERR_UNSUPPORTED` for what this release does not have
   */
  resolve(target: Target): ResolvedTarget {
    const before = this.#resolved.get(target)
    if (before === undefined) return this.#remember(target, this.#parse(target))
    const now = this.#confirm(before)
    return now === before ? before : this.#remember(target, now)
  }

  /** The registry has forgotten the destination: targets that are not remembered by identity begin with a new number. */
  forget(key: string): void {
    this.#known.forget(key)
  }

  #remember(target: Target, resolved: ResolvedTarget): ResolvedTarget {
    this.#resolved.set(target, resolved)
    return resolved
  }

  /** The same, unless it or a hop before it was forgotten and has begun anew. */
  #confirm(before: ResolvedTarget): ResolvedTarget {
    const shared = this.#known.confirm(before.key, before)
    const jump = before.jump && this.#confirm(before.jump)
    return shared.id === before.id && jump === before.jump ? before : Object.freeze({ ...before, ...shared, jump })
  }

  #parse(target: Target): ResolvedTarget {
    const given = checkObject('target', target, 'an object with host, user and identity') as Partial<Target>
    checkNames(given, NAMES, 'target')
    const { transport } = given
    const parsed = this.#check(given, '')
    let jump: ResolvedTarget | undefined
    for (const [index, hop] of readJumps(given).entries())
      jump = this.#share(this.#check({ ...hop, transport }, `jumps[${index}].`), jump)
    return this.#share(parsed, jump)
  }

  #share(parsed: Checked, jump: ResolvedTarget | undefined): ResolvedTarget {
    const route = jump === undefined ? parsed.address : `${jump.route} ${parsed.address}`
    const whole = { ...parsed, route, jump, hops: jump === undefined ? 0 : jump.hops + 1 }
    const key = keyOf(whole, parsed.connect && this.#numberOf(parsed.connect))
    const { id, identities } = this.#known.share(key, `${parsed.user}@${parsed.address}`, parsed.identities)
    return Object.freeze({ key, ...whole, id, identities })
  }

  /** `at` stands before the names of properties: a jump's say whose they are. */
  #check(given: Partial<Target>, at: string): Checked {
    const host = checkHost(given.host, `${at}host`)
    const portNumber = given.port === undefined ? 22 : check(port, `${at}port`, given.port)
    const alias = given.hostKeyAlias === undefined ? undefined : checkAlias(given.hostKeyAlias, `${at}hostKeyAlias`)
    const parsed = {
      host,
      port: portNumber,
      user: checkUser(given.user, `${at}user`),
      address: `${bracketed(host)}:${portNumber}`,
      identities: resolveIdentities(given.identity, `${at}identity`),
      hostKey: resolvePolicy(given.hostKey, `${at}hostKey`),
      hostKeyName: alias ?? (portNumber === 22 ? host : `[${host}]:${portNumber}`),
      ...this.#manner(given),
      label: given.label === undefined ? undefined : check(label, 'label', given.label),
      connect: checkConnect(given.connect),
      openssh: resolveOpenssh(given.openssh),
    }
    return { ...parsed, identities: suitedIdentities(parsed) }
  }

  #manner(given: Partial<Target>): TargetDefaults {
    const { transport: name, keepAliveIntervalMillis: interval, keepAliveCountMax: most } = given
    return {
      transport: name === undefined ? this.#defaults.transport : check(transport, 'transport', name),
      keepAliveIntervalMillis:
        interval === undefined ? this.#defaults.keepAliveIntervalMillis : check(duration, 'keepAliveIntervalMillis', interval),
      keepAliveCountMax: most === undefined ? this.#defaults.keepAliveCountMax : check(count, 'keepAliveCountMax', most),
    }
  }

  #numberOf(connect: Connect): number {
    const number = this.#connects.get(connect) ?? ++this.#lastConnect
    this.#connects.set(connect, number)
    return number
  }
}
