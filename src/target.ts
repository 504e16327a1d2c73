import type { Duplex } from 'node:stream'
import type { Target, TransportName } from './api/target.ts'
import type { Secret } from './secret.ts'

/** One way to prove who we are that needs nobody to be asked, checked; every secret behind a `Secret`. */
export type StaticResolvedIdentity =
  | {
      readonly kind: 'path'
      readonly path: string
      readonly passphrase: Secret | undefined
      readonly certificate: string | undefined
    }
  | {
      readonly kind: 'key'
      readonly key: Secret<string | Uint8Array>
      readonly passphrase: Secret | undefined
      readonly certificate: string | Uint8Array | undefined
    }
  /** `socketPath` undefined: SSH_AUTH_SOCK, read at each dial. */
  | { readonly kind: 'agent'; readonly socketPath: string | undefined; readonly publicKeys: readonly string[] | undefined }
  | { readonly kind: 'password'; readonly password: Secret }

/** One way to prove who we are, checked. */
export type ResolvedIdentity =
  | StaticResolvedIdentity
  /** What `load` returns is checked like any other; it rejects as the user's function does. */
  | { readonly kind: 'load'; readonly id: string; readonly load: (signal: AbortSignal) => Promise<StaticResolvedIdentity> }
  /** The agent if there is one, then the usual key files of the user that exist. */
  | { readonly kind: 'ambient' }

/** What is accepted as the host's key; paths are absolute, pins are fingerprints or `type base64` without a comment. */
export type ResolvedHostKeyPolicy =
  | { readonly kind: 'known-hosts'; readonly files: readonly string[] }
  | { readonly kind: 'pinned'; readonly pins: readonly string[] }
  | { readonly kind: 'accept-new'; readonly file: string | undefined }
  | { readonly kind: 'insecure-accept-any' }

/** What only OpenSSH is told: each keyword as ssh_config spells it, with its value. */
export interface ResolvedOpenssh {
  readonly configFile: string | undefined
  readonly options: ReadonlyArray<readonly [keyword: string, value: string]>
}

/** A target, checked and complete; nothing in it is optional and nothing in it can be changed from outside. */
export interface ResolvedTarget {
  /** Canonical: equal keys share one connection. Contains no secret, only HMACs of them. Not for people. */
  readonly key: string
  /** For people: `user@host:port#n`, n a short counter over the pool. */
  readonly id: string
  /** In lower case, an IPv6 address in its shortest form and without brackets. */
  readonly host: string
  readonly port: number
  readonly user: string
  /** `host:port`, an IPv6 address in brackets. */
  readonly address: string
  /** The addresses on the way, outermost first: what logins are counted by. Behind two jumps, one address may be two hosts. */
  readonly route: string
  /** The last hop on the way, itself a target with the hops before it as its jump. */
  readonly jump: ResolvedTarget | undefined
  /** How many hops lie before it. */
  readonly hops: number
  readonly identities: readonly ResolvedIdentity[]
  readonly hostKey: ResolvedHostKeyPolicy
  /** The name under which the host key is known: the alias, else the host, `[host]:port` unless the port is 22. */
  readonly hostKeyName: string
  readonly transport: TransportName
  readonly keepAliveIntervalMillis: number
  readonly keepAliveCountMax: number
  readonly label: string | undefined
  readonly connect: ((to: { host: string; port: number; signal: AbortSignal }) => Promise<Duplex>) | undefined
  readonly openssh: ResolvedOpenssh | undefined
}

export { Targets } from './target/targets.ts'
export type { Target }
