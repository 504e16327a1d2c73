import { userInfo } from 'node:os'
import type SSHConfig from 'ssh-config'
import type { Jump, StaticIdentity, Target } from '../api/target.ts'
import { TunnelError } from '../errors.ts'
import { invalidOption, quote } from '../options/invalid.ts'
import { type Lookup, lookUp } from './lookup.ts'
import { expand, type Meanings } from './tokens.ts'

/** Keywords that become part of a target. */
const READ: ReadonlySet<string> = new Set([
  'hostname',
  'port',
  'user',
  'identityfile',
  'certificatefile',
  'proxyjump',
  'userknownhostsfile',
  'hostkeyalias',
])
const HOP = /^(?:ssh:\/\/)?(?:(?<user>[^@\s]+)@)?(?:\[(?<v6>[^\]]+)\]|(?<host>[^:\s@[\]/]+))(?::(?<port>\d{1,5}))?\/?$/
const DEFAULT_KNOWN_HOSTS = ['~/.ssh/known_hosts', '/etc/ssh/ssh_known_hosts']

/** One host of the config. */
type Host = Required<Pick<Target, 'host' | 'port' | 'user' | 'identity'>> & Pick<Target, 'hostKey' | 'hostKeyAlias'>
/** What a command line may say before the config does. */
interface Said {
  readonly user?: string | undefined
  readonly port?: number | undefined
}

function localUserName(): string {
  try {
    return userInfo().username
  } catch {
    // A uid without an entry in the password file: only a config that names the user can be used then.
    return ''
  }
}

/** Pairs each certificate with the key that it is named after, else with the key at its place. */
function identitiesOf(keys: readonly string[], certificates: readonly string[]): StaticIdentity[] {
  const left = [...certificates]
  const named = new Map<string, string>()
  for (const key of keys) {
    const at = left.indexOf(`${key}-cert.pub`)
    if (at >= 0) named.set(key, left.splice(at, 1)[0] as string)
  }
  return keys.map((path) => {
    const certificate = named.get(path) ?? left.shift()
    return certificate === undefined ? { path } : { path, certificate }
  })
}

/** Makes targets of a parsed config. */
export class ConfigReader {
  readonly #config: SSHConfig
  readonly #localUser = localUserName()
  readonly #ignored = new Set<string>()

  constructor(config: SSHConfig) {
    this.#config = config
  }

  target(alias: string): { target: Target; ignored: readonly string[] } {
    const { host, jumps } = this.#host(alias, {}, [])
    const known = jumps.some(({ hostKey }) => hostKey !== undefined) || host.hostKey !== undefined
    const target: Target = { ...host }
    if (jumps.length > 0)
      // Each hop by what the config says of it, and not by what it says of the target.
      target.jumps = jumps.map((jump) => (known ? { hostKey: { knownHosts: DEFAULT_KNOWN_HOSTS }, ...jump } : jump))
    return { target, ignored: [...this.#ignored] }
  }

  /** One host and the hops before it; `path` is what led here. */
  #host(alias: string, said: Said, path: readonly string[]): { host: Host; jumps: Jump[] } {
    if (path.includes(alias))
      throw new TunnelError(
        'ERR_INVALID_OPTION',
        `ProxyJump goes round in circles: ${[...path, alias].map(quote).join(' through ')}; say \`ProxyJump none\` for one of them`,
      )
    const lookup = lookUp(this.#config, alias, this.#localUser)
    for (const keyword of lookup.keywords) if (!READ.has(keyword.toLowerCase())) this.#ignored.add(keyword)
    const { meanings, host } = this.#read(alias, said, lookup)
    const proxy = lookup.values.get('proxyjump')?.[0]?.join(' ')
    if (proxy === undefined || proxy.toLowerCase() === 'none') return { host, jumps: [] }
    return { host, jumps: this.#jumps(expand(proxy, meanings), [...path, alias]) }
  }

  /** As ssh does: only the first hop's own ProxyJump counts, for the others the list says how they are reached. */
  #jumps(list: string, path: readonly string[]): Jump[] {
    return list.split(',').flatMap((text, index) => {
      const { user, v6, host: name = v6, port } = HOP.exec(text.trim())?.groups ?? {}
      if (name === undefined) throw invalidOption('ProxyJump', '[user@]host[:port], or several with commas between them', text)
      const { host, jumps } = this.#host(name, { user, port: port === undefined ? undefined : Number(port) }, path)
      return index === 0 ? [...jumps, host] : [host]
    })
  }

  #read(alias: string, said: Said, { values }: Lookup): { meanings: Meanings; host: Host } {
    const first = (keyword: string) => values.get(keyword)?.[0]?.join(' ')
    const port = said.port ?? Number(first('port') ?? 22)
    const user = said.user ?? first('user') ?? this.#localUser
    const known = { alias, port, user, localUser: this.#localUser }
    const meanings = { ...known, host: expand(first('hostname') ?? alias, { ...known, host: alias }) }
    const files = (keyword: string) =>
      (values.get(keyword) ?? [])
        .flat()
        .filter((file) => file.toLowerCase() !== 'none')
        .map((file) => expand(file, meanings))
    const keys = [...new Set(files('identityfile'))]
    const knownHosts = values.get('userknownhostsfile')?.[0]?.filter((file) => file.toLowerCase() !== 'none')
    const hostKeyAlias = first('hostkeyalias')
    return {
      meanings,
      host: {
        host: meanings.host,
        port,
        user,
        identity: keys.length === 0 ? 'ambient' : identitiesOf(keys, [...new Set(files('certificatefile'))]),
        ...(knownHosts !== undefined &&
          knownHosts.length > 0 && { hostKey: { knownHosts: knownHosts.map((file) => expand(file, meanings)) } }),
        ...(hostKeyAlias !== undefined && { hostKeyAlias }),
      },
    }
  }
}
