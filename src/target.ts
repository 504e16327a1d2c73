import type { Duplex } from 'node:stream'
import type { Target, TransportName } from './api/target.ts'
import type { Secret } from './secret.ts'

/** One way to prove who we are, checked; every secret behind a `Secret`. */
export type ResolvedIdentity =
  | { readonly kind: 'path'; readonly path: string; readonly passphrase: Secret | undefined; readonly certificate: string | undefined }
  | { readonly kind: 'key'; readonly key: Secret<string | Uint8Array>; readonly passphrase: Secret | undefined; readonly certificate: string | Uint8Array | undefined }
  /** `socketPath` undefined: SSH_AUTH_SOCK, read at each dial. */
  | { readonly kind: 'agent'; readonly socketPath: string | undefined; readonly publicKeys: readonly string[] | undefined }
  | { readonly kind: 'password'; readonly password: Secret }
  | { readonly kind: 'load'; readonly id: string; readonly load: (signal: AbortSignal) => Promise<ResolvedIdentity> }
  /** The agent if there is one, then the usual key files of the user that exist. */
  | { readonly kind: 'ambient' }

export type ResolvedHostKeyPolicy =
  | { readonly kind: 'known-hosts'; readonly files: readonly string[] }
  | { readonly kind: 'pinned'; readonly pins: readonly string[] }
  | { readonly kind: 'accept-new'; readonly file: string | undefined }
  | { readonly kind: 'insecure-accept-any' }

/** A target, checked and complete; nothing in it is optional and nothing in it can be changed from outside. */
export interface ResolvedTarget {
  /** Canonical: equal keys share one connection. Contains no secret, only HMACs of them. Not for people. */
  readonly key: string
  /** For people: `user@host:port#n`, n a short counter over the pool. */
  readonly id: string
  readonly host: string
  readonly port: number
  readonly user: string
  /** `host:port`, the host in lower case: what logins are counted by. */
  readonly address: string
  readonly identities: readonly ResolvedIdentity[]
  readonly hostKey: ResolvedHostKeyPolicy
  /** The name under which the host key is known: the alias, else the host in lower case, `[host]:port` unless the port is 22. */
  readonly hostKeyName: string
  readonly transport: TransportName
  readonly keepAliveIntervalMillis: number
  readonly keepAliveCountMax: number
  readonly label: string | undefined
  readonly connect: ((to: { host: string; port: number; signal: AbortSignal }) => Promise<Duplex>) | undefined
}

export type { Target }
